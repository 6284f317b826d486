// SPDX-License-Identifier: Apache-2.0
// Pipelined chain broadcast: member 0 hands the vector on to 1, that to 2, …, in pieces small enough that all
// edges are busy at once. In group order, without regard to nodes or NICs.
//   n members, S bytes: S per edge, n-1 steps until the last member has its first piece
// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
#include <numeric>

#include "rings.hpp"

namespace dlnb::collectives {
namespace {

bool handles(OperationKind kind) { return kind == OperationKind::broadcast; }

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  Ring order(members.size());
  std::iota(order.begin(), order.end(), 0);
  return around({order}, kind, bytes);
}

}  // namespace

extern constinit const Collective chain{
    .name = "chain",
    .summary = "broadcast as a pipelined chain in group order",
    .handles = handles,
    .traffic = traffic,
};

}  // namespace dlnb::collectives
