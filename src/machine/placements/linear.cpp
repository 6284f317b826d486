// SPDX-License-Identifier: Apache-2.0
// Rank r on device r: nodes in the order of the machine, their devices in order.
#include <numeric>

#include "machine/machine.hpp"

namespace dlnb::placements {
namespace {

Placement place(const Machine&, std::int64_t ranks, std::int64_t) {
  Placement device_of(static_cast<std::size_t>(ranks));
  std::iota(device_of.begin(), device_of.end(), 0);
  return device_of;
}

}  // namespace

extern constinit const PlacementKind linear{
    .name = "linear",
    .summary = "rank after rank on device after device, node after node",
    .place = place,
};

}  // namespace dlnb::placements
