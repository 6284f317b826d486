// SPDX-License-Identifier: Apache-2.0
// Pipelined chain broadcast: member 0 hands the vector on to 1, that to 2, …, in pieces small enough that all
// edges are busy at once. In group order, without regard to nodes or NICs.
//   n members, S bytes in pieces of P: S per edge, n-1 steps, and n-2 times a piece's time until the last member has
//   its first: (n-1)α + (S + (n-2)P)/β
// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
#include <algorithm>
#include <numeric>

#include "rings.hpp"

namespace dlnb::collectives {
namespace {

bool handles(OperationKind kind) { return kind == OperationKind::broadcast; }

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  Ring order(members.size());
  std::iota(order.begin(), order.end(), 0);
  Traffic traffic = around({order}, kind, bytes);
  traffic.filling = std::max(0, int(members.size()) - 2);
  return traffic;
}

// One edge leaves a node.
Load load(OperationKind, const GroupShape& shape) {
  return {shape.nodes < shape.members ? 1.0 : 0.0, shape.nodes > 1 ? 1.0 : 0.0};
}

std::vector<Round> rounds(OperationKind kind, std::span<const Member> members, std::int64_t elements) {
  Ring order(members.size());
  std::iota(order.begin(), order.end(), 0);
  return ring_rounds({order}, kind, elements);
}

}  // namespace

extern constinit const Collective chain{
    .name = "chain",
    .summary = "broadcast as a pipelined chain in group order",
    .handles = handles,
    .traffic = traffic,
    .steps = ring_way,
    .load = load,
    .rounds = rounds,
};

}  // namespace dlnb::collectives
