// SPDX-License-Identifier: Apache-2.0
// Rings over the direct links of one node: where every device has a cable to every other, one ring would use
// one of its cables and leave the rest idle, so the vector is spread over rings that together use all of
// them.
//   up to four members   every cyclic order: (n-1)! rings; each directed cable lies on (n-2)! of them,
//                        so that a device sends over n-1 cables at once: n-1 times the rate of one ring
//   more                 i → i+s for every s prime to n (all cables where n is prime)
// Source: the count is elementary; that libraries search for such rings: NVIDIA, NCCL 2.x, src/graph.
// Meant for one node: behind a switch it is no better than one ring, between nodes worse.
#include <algorithm>
#include <numeric>

#include "rings.hpp"

namespace dlnb::collectives {
namespace {

std::vector<Ring> cyclic_orders(int members) {
  std::vector<Ring> rings;
  Ring ring(static_cast<std::size_t>(members));
  std::iota(ring.begin(), ring.end(), 0);
  do rings.push_back(ring);
  while (std::next_permutation(ring.begin() + 1, ring.end()));
  return rings;
}

std::vector<Ring> strides(int members) {
  std::vector<Ring> rings;
  for (int stride = 1; stride < members; ++stride) {
    if (std::gcd(stride, members) != 1) continue;
    Ring ring;
    for (int i = 0; i < members; ++i) ring.push_back(int(std::int64_t(i) * stride % members));
    rings.push_back(std::move(ring));
  }
  return rings;
}

std::vector<Ring> mesh_rings_of(int members) {
  return members <= 4 ? cyclic_orders(members) : strides(members);
}

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  const int n = int(members.size());
  if (n < 2) return {};
  return around(mesh_rings_of(n), kind, bytes);
}

bool fits(OperationKind, const GroupShape& shape) { return shape.nodes == 1; }

std::vector<Round> rounds(OperationKind kind, std::span<const Member> members, std::int64_t elements) {
  return ring_rounds(mesh_rings_of(int(members.size())), kind, elements);
}

std::int64_t messages(OperationKind kind, std::span<const Member> members, std::int64_t elements) {
  const auto n = int(members.size());
  std::int64_t rings = 0;
  if (n <= 4) rings = std::int64_t(cyclic_orders(n).size());
  for (int stride = 1; n > 4 && stride < n; ++stride) rings += std::gcd(stride, n) == 1;
  return ring_messages(kind, rings, n, elements);
}

}  // namespace

extern constinit const Collective mesh_rings{
    .name = "mesh_rings",
    .summary = "many rings over the direct links between the devices of one node",
    .tuned_as = "ring",
    .handles = is_ring_collective,
    .fits = fits,
    .is_usual = true,
    .traffic = traffic,
    .steps = ring_way,
    .load = ring_load,
    .rounds = rounds,
    .messages = messages,
};

}  // namespace dlnb::collectives
