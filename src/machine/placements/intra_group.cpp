// SPDX-License-Identifier: Apache-2.0
// Placement class Intra-Group: all nodes in one group, over several first-level switches. The group is the fullest that
// has enough free nodes; these are drawn at random and taken in the machine's order, as a batch system lists them.
// Intra-Group-Same-L1-n: exactly n nodes on each switch that is used; switches drawn at random.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "machine/domains.hpp"
#include "machine/draw.hpp"

namespace dlnb::placements {
namespace {

using Switches = std::map<int, std::vector<int>>;

std::size_t nodes_in(const Switches& switches) {
  std::size_t count = 0;
  for (const auto& [index, nodes] : switches) count += nodes.size();
  return count;
}
std::size_t blocks_in(const Switches& switches, int block) {
  return std::size_t(
      std::ranges::count_if(switches, [&](const auto& s) { return s.second.size() >= std::size_t(block); }));
}

Placement in_blocks(const Machine& machine, const PlacementTask& task) {
  const auto wanted = std::size_t(blocks_for(machine, task));
  const Domains domains = domains_of(machine, task.nodes);
  const Switches* best = nullptr;
  std::size_t most = 0, fewest = std::numeric_limits<std::size_t>::max();
  for (const auto& [group, switches] : domains) {
    const std::size_t blocks = blocks_in(switches, task.block);
    most = std::max(most, blocks);
    if (blocks >= wanted && blocks < fewest) best = &switches, fewest = blocks;
  }
  if (!best)
    refuse_placement(
        task, fmt::format("intra-group: {} blocks of {} nodes, but no group has more than {} switches with "
                          "so many free nodes",
                          wanted, task.block, most));
  std::vector<int> nodes;
  for (const std::vector<int>& block : draw_blocks(*best, task.block, wanted, task.seed))
    nodes.insert(nodes.end(), block.begin(), block.end());
  return fill(machine, nodes, task.ranks);
}

Placement place(const Machine& machine, const PlacementTask& task) {
  if (task.block > 0) return in_blocks(machine, task);
  const auto wanted = std::size_t(nodes_for(machine, task.ranks));
  if (wanted < 2) refuse_placement(task, "intra-group: one node spans no first-level switches");
  const Domains domains = domains_of(machine, task.nodes);
  const Switches* best = nullptr;
  std::size_t most = 0;
  for (const auto& [group, switches] : domains) {
    if (switches.size() < 2) continue;
    const std::size_t count = nodes_in(switches);
    most = std::max(most, count);
    if (count >= wanted && (!best || count < nodes_in(*best))) best = &switches;
  }
  if (!best)
    refuse_placement(
        task,
        fmt::format("intra-group: {} nodes, but no group of several first-level switches has more than {} "
                    "free ones",
                    wanted, most));
  std::vector<int> all, nodes;
  for (const auto& [index, some] : *best) all.insert(all.end(), some.begin(), some.end());
  const auto switch_of = [&](int node) { return machine.network->switch_of(node * machine.nics_per_node); };
  // Drawn again where all came from one switch: for two nodes of a group of w switches that is one draw in w.
  for (Draw draw{task.seed}; nodes.empty();) {
    draw.first(all, wanted);
    nodes.assign(all.begin(), all.begin() + std::ptrdiff_t(wanted));
    if (std::ranges::all_of(nodes, [&](int node) { return switch_of(node) == switch_of(nodes.front()); }))
      nodes.clear();
  }
  std::sort(nodes.begin(), nodes.end());
  return fill(machine, nodes, task.ranks);
}

}  // namespace

extern constinit const PlacementKind intra_group{
    .name = "intra-group",
    .summary =
        "nodes of one group, drawn at random over its first-level switches; -same-l1-N: N on each that is "
        "used",
    .on_switches = true,
    .blocks = true,
    .place = place,
};

}  // namespace dlnb::placements
