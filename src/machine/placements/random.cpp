// SPDX-License-Identifier: Apache-2.0
// Whole nodes drawn at random without repetition, as a batch system's free list looks on a busy machine;
// ranks fill the devices of each drawn node in order. The last node may be taken in part.
//
// The draw is the first ⌈ranks / devices per node⌉ steps of a Fisher–Yates shuffle of the nodes (machine/draw.hpp).
#include "machine/domains.hpp"
#include "machine/draw.hpp"

namespace dlnb::placements {
namespace {

Placement place(const Machine& machine, const PlacementTask& task) {
  std::vector<int> nodes(task.nodes.begin(), task.nodes.end());
  Draw{task.seed}.first(nodes, std::size_t(nodes_for(machine, task.ranks)));
  return fill(machine, nodes, task.ranks);
}

}  // namespace

extern constinit const PlacementKind random{
    .name = "random",
    .summary = "whole nodes drawn at random (seeded); ranks fill the devices of each in order",
    .place = place,
};

}  // namespace dlnb::placements
