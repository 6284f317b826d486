// SPDX-License-Identifier: Apache-2.0
// Placement class Intra-L1: all nodes on one first-level switch, the fullest that has enough free ones.
#include <fmt/format.h>

#include "machine/domains.hpp"

namespace dlnb::placements {
namespace {

Placement place(const Machine& machine, const PlacementTask& task) {
  const auto wanted = std::size_t(nodes_for(machine, task.ranks));
  const std::vector<int>* best = nullptr;
  std::size_t most = 0;
  const Domains domains = domains_of(machine, task.nodes);
  for (const auto& [group, switches] : domains)
    for (const auto& [index, nodes] : switches) {
      most = std::max(most, nodes.size());
      if (nodes.size() >= wanted && (!best || nodes.size() < best->size())) best = &nodes;
    }
  if (!best)
    refuse_placement(
        task, fmt::format("intra-l1: {} nodes, but no first-level switch has more than {} free ones", wanted,
                          most));
  return fill(machine, {best->begin(), best->begin() + std::ptrdiff_t(wanted)}, task.ranks);
}

}  // namespace

extern constinit const PlacementKind intra_l1{
    .name = "intra-l1",
    .summary = "all nodes on one first-level switch",
    .on_switches = true,
    .place = place,
};

}  // namespace dlnb::placements
