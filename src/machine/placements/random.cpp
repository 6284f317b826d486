// SPDX-License-Identifier: Apache-2.0
// Whole nodes drawn at random without repetition, as a batch system's free list looks on a busy machine;
// ranks fill the devices of each drawn node in order. The last node may be taken in part.
//
// The draw is the first ⌈ranks / devices per node⌉ steps of a Fisher–Yates shuffle of the nodes: step i swaps
// node i with node i + u, u uniform below nodes - i. u is x mod (nodes - i) of the next 64-bit number x of
// mt19937_64(seed) that lies below the largest multiple of (nodes - i); larger ones are thrown away.
// (std::shuffle and std::uniform_int_distribution leave their algorithm to the library; this gives the same
// nodes everywhere.)
#include <limits>
#include <random>

#include "machine/machine.hpp"

namespace dlnb::placements {
namespace {

std::uint64_t uniform_below(std::uint64_t count, std::mt19937_64& random) {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t limit = largest - largest % count;
  for (;;)
    if (const std::uint64_t x = random(); x < limit) return x % count;
}

Placement place(const Machine& machine, std::span<const int> free, std::int64_t ranks, std::int64_t seed) {
  std::vector<int> nodes(free.begin(), free.end());
  std::mt19937_64 random{std::uint64_t(seed)};

  Placement device_of;
  device_of.reserve(std::size_t(ranks));
  for (std::size_t i = 0; std::int64_t(device_of.size()) < ranks; ++i) {
    std::swap(nodes[i], nodes[i + uniform_below(nodes.size() - i, random)]);
    for (int d = 0; d < machine.devices_per_node && std::int64_t(device_of.size()) < ranks; ++d)
      device_of.push_back(nodes[i] * machine.devices_per_node + d);
  }
  return device_of;
}

}  // namespace

extern constinit const PlacementKind random{
    .name = "random",
    .summary = "whole nodes drawn at random (seeded); ranks fill the devices of each in order",
    .place = place,
};

}  // namespace dlnb::placements
