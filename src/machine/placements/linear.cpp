// SPDX-License-Identifier: Apache-2.0
// Rank r on device r: nodes in the order of the machine, their devices in order.
#include "machine/machine.hpp"

namespace dlnb::placements {
namespace {

Placement place(const Machine& machine, std::span<const int> nodes, std::int64_t ranks, std::int64_t) {
  Placement device_of;
  device_of.reserve(std::size_t(ranks));
  for (const int node : nodes)
    for (int d = 0; d < machine.devices_per_node && std::int64_t(device_of.size()) < ranks; ++d)
      device_of.push_back(node * machine.devices_per_node + d);
  return device_of;
}

}  // namespace

extern constinit const PlacementKind linear{
    .name = "linear",
    .summary = "rank after rank on device after device, node after node",
    .place = place,
};

}  // namespace dlnb::placements
