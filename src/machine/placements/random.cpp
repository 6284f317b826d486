// SPDX-License-Identifier: Apache-2.0
// Whole nodes drawn at random without repetition, as a batch system's free list looks on a busy machine;
// ranks fill the devices of each drawn node in order. The last node may be taken in part.
//
// The draw is the first ⌈ranks / devices per node⌉ steps of a Fisher–Yates shuffle of the nodes (machine/draw.hpp).
#include "machine/draw.hpp"
#include "machine/machine.hpp"

namespace dlnb::placements {
namespace {

Placement place(const Machine& machine, std::span<const int> free, std::int64_t ranks, std::int64_t seed) {
  std::vector<int> nodes(free.begin(), free.end());
  const std::int64_t each = machine.devices_per_node;
  Draw{seed}.first(nodes, std::size_t((ranks + each - 1) / each));

  Placement device_of;
  device_of.reserve(std::size_t(ranks));
  for (std::size_t i = 0; std::int64_t(device_of.size()) < ranks; ++i)
    for (int d = 0; d < each && std::int64_t(device_of.size()) < ranks; ++d)
      device_of.push_back(int(nodes[i] * each + d));
  return device_of;
}

}  // namespace

extern constinit const PlacementKind random{
    .name = "random",
    .summary = "whole nodes drawn at random (seeded); ranks fill the devices of each in order",
    .place = place,
};

}  // namespace dlnb::placements
