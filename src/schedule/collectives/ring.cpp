// SPDX-License-Identifier: Apache-2.0
// Rings over rails, as NCCL lays them out: every ring visits the nodes one after the other, so that only one
// of its edges leaves a node; there are as many rings as the members of a node have NICs, and each leaves
// through another.
//
//   two nodes of four, one NIC per device      ring 0:  0 1 2 3 | 7 6 5 4      ring 1:  1 2 3 0 | 4 7 6 5
//
// Every second node is walked backwards: the edge between two nodes then joins equal NICs and stays on its
// rail (with an odd number of nodes all but the closing edge do).
// Source: NVIDIA, NCCL 2.x, src/graph (channel search, rings) and its environment variable NCCL_CROSS_NIC.
// Assumes that inside a node the order does not matter: true behind a switch; for direct links see mesh_rings.
#include <algorithm>

#include "rails.hpp"
#include "rings.hpp"

namespace dlnb::collectives {
namespace {

std::vector<Ring> rail_rings(std::span<const Member> members) {
  const Nodes nodes(members);
  std::vector<Ring> rings(rails_of(nodes));
  for (std::size_t rail = 0; rail < rings.size(); ++rail) {
    rings[rail].reserve(members.size());
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const auto before = std::ptrdiff_t(rings[rail].size());
      add_walk(nodes[k], rail, rings[rail]);
      if (k % 2 == 1) std::reverse(rings[rail].begin() + before, rings[rail].end());
    }
  }
  return rings;
}

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  return around(rail_rings(members), kind, bytes);
}

std::vector<Round> rounds(OperationKind kind, std::span<const Member> members, std::int64_t elements) {
  return ring_rounds(rail_rings(members), kind, elements);
}

std::int64_t messages(OperationKind kind, std::span<const Member> members, std::int64_t elements) {
  return ring_messages(kind, std::int64_t(rails_of(Nodes(members))), std::int64_t(members.size()), elements);
}

}  // namespace

extern constinit const Collective ring{
    .name = "ring",
    .summary = "rings over nodes, one per NIC of a node; bandwidth-optimal, latency grows with the members",
    .handles = is_ring_collective,
    .is_usual = true,
    .traffic = traffic,
    .steps = ring_way,
    .load = ring_load,
    .rounds = rounds,
    .messages = messages,
};

}  // namespace dlnb::collectives
