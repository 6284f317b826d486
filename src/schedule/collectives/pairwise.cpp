// SPDX-License-Identifier: Apache-2.0
// Pairwise exchange: an all-to-all in n-1 rounds; in round r everybody sends to the member r places on and receives
// from the one r places back.
//   n members, S bytes sent by each (its own part included): S/n per ordered pair, n-1 steps
// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, "pairwise exchange"; NVIDIA, NCCL 2.x, whose grouped sends
// and receives go through the peers in such an order.
// Rounds overlap in the flow model: they share links as if all were under way, which changes nothing where every
// round alone fills the links.
#include "exchange.hpp"

namespace dlnb::collectives {
namespace {

Traffic traffic(OperationKind, std::span<const Member> members, double bytes) {
  const int n = int(members.size());
  if (n < 2) return {};
  return {exchange_flows(n, bytes), n - 1};
}

Steps steps(OperationKind, const GroupShape& shape) {
  const double inside = shape.per_node() - 1;
  return {inside, shape.members - 1 - inside};
}

std::vector<Round> rounds(OperationKind, std::span<const Member> members, std::int64_t elements) {
  return exchange_rounds(int(members.size()), elements);
}

}  // namespace

extern constinit const Collective pairwise{
    .name = "pairwise",
    .summary = "all-to-all in rounds of disjoint pairs",
    .handles = is_exchange,
    .is_usual = true,
    .traffic = traffic,
    .steps = steps,
    .load = exchange_load,
    .rounds = rounds,
    .messages = exchange_messages,
};

}  // namespace dlnb::collectives
