// SPDX-License-Identifier: Apache-2.0
// Rank r on device r: nodes in the order of the machine, their devices in order.
#include "machine/domains.hpp"

namespace dlnb::placements {
namespace {

Placement place(const Machine& machine, const PlacementTask& task) {
  return fill(machine, {task.nodes.begin(), task.nodes.end()}, task.ranks);
}

}  // namespace

extern constinit const PlacementKind linear{
    .name = "linear",
    .summary = "rank after rank on device after device, node after node",
    .place = place,
};

}  // namespace dlnb::placements
