// SPDX-License-Identifier: Apache-2.0
// Placement class Inter-Group: nodes dealt evenly over all groups that have free ones, drawn at random in each and taken
// in the machine's order, as a batch system lists them. Fewer nodes than groups: groups drawn at random.
// Inter-Group-Same-L1-n: exactly n nodes on each first-level switch that is used, the blocks dealt evenly over groups.
#include <fmt/format.h>

#include <algorithm>

#include "machine/domains.hpp"
#include "machine/draw.hpp"

namespace dlnb::placements {
namespace {

// What each group gives of `wanted` things, of which it has `room`: one after the other in turn, in a random order of
// groups, as long as they have any. Fewer in sum where there are not enough.
std::vector<std::size_t> deal(const std::vector<std::size_t>& room, std::size_t wanted, std::int64_t seed) {
  std::vector<std::size_t> order(room.size()), given(room.size(), 0);
  for (std::size_t g = 0; g < order.size(); ++g) order[g] = g;
  Draw{seed}.first(order, order.size());
  for (bool gave = true; gave && wanted > 0;) {
    gave = false;
    for (const std::size_t g : order) {
      if (wanted == 0 || given[g] == room[g]) continue;
      ++given[g], --wanted;
      gave = true;
    }
  }
  return given;
}

Placement place(const Machine& machine, const PlacementTask& task) {
  const int block = std::max(1, task.block);
  const auto wanted =
      std::size_t(task.block > 0 ? blocks_for(machine, task) : nodes_for(machine, task.ranks));
  if (wanted < 2) refuse_placement(task, "inter-group: one node spans no groups");
  const Domains domains = domains_of(machine, task.nodes);
  std::vector<std::size_t> room;
  for (const auto& [group, switches] : domains) {
    room.push_back(0);
    for (const auto& [index, nodes] : switches)
      room.back() += task.block == 0 ? nodes.size() : nodes.size() >= std::size_t(block) ? 1 : 0;
  }
  const std::vector<std::size_t> given = deal(room, wanted, task.seed);
  std::size_t sum = 0;
  for (const std::size_t count : given) sum += count;
  const char* what = task.block > 0 ? "switches with a free block" : "free nodes";
  if (sum < wanted)
    refuse_placement(task, fmt::format("inter-group: needs {} {}, there are {}", wanted, what, sum));
  if (std::ranges::count_if(given, [](std::size_t count) { return count > 0; }) < 2)
    refuse_placement(task, fmt::format("inter-group: {} have only one group", what));

  std::vector<int> nodes;
  std::size_t g = 0;
  for (const auto& [group, switches] : domains) {
    const std::size_t count = given[g++];
    const std::int64_t seed = task.seed + std::int64_t(g);  // groups draw differently
    if (task.block > 0) {
      for (const std::vector<int>& some : draw_blocks(switches, block, count, seed))
        nodes.insert(nodes.end(), some.begin(), some.end());
      continue;
    }
    std::vector<int> all;
    for (const auto& [index, some] : switches) all.insert(all.end(), some.begin(), some.end());
    Draw{seed}.first(all, count);
    std::sort(all.begin(), all.begin() + std::ptrdiff_t(count));
    nodes.insert(nodes.end(), all.begin(), all.begin() + std::ptrdiff_t(count));
  }
  return fill(machine, nodes, task.ranks);
}

}  // namespace

extern constinit const PlacementKind inter_group{
    .name = "inter-group",
    .summary =
        "nodes dealt evenly over all groups, drawn at random in each; -same-l1-N: N on each switch that is "
        "used",
    .on_switches = true,
    .blocks = true,
    .place = place,
};

}  // namespace dlnb::placements
