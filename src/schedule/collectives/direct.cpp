// SPDX-License-Identifier: Apache-2.0
// Direct all-to-all: every member posts all its messages at once.
//   n members, S bytes sent by each (its own part included): S/n per ordered pair, one step
// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, the algorithm for medium messages.
// Assumes that posting a message costs nothing and that many at once do not hinder each other.
#include "exchange.hpp"

namespace dlnb::collectives {
namespace {

Traffic traffic(OperationKind, std::span<const Member> members, double bytes) {
  if (members.size() < 2) return {};
  return {exchange_flows(int(members.size()), bytes), 1};
}

Steps steps(OperationKind, const GroupShape& shape) { return shape.nodes > 1 ? Steps{0, 1} : Steps{1, 0}; }

std::vector<Round> rounds(OperationKind, std::span<const Member> members, std::int64_t elements) {
  Round all;
  for (const Round& round : exchange_rounds(int(members.size()), elements))
    all.insert(all.end(), round.begin(), round.end());
  return {all};
}

}  // namespace

extern constinit const Collective direct{
    .name = "direct",
    .summary = "all-to-all, all messages at once",
    .handles = is_exchange,
    .traffic = traffic,
    .steps = steps,
    .load = exchange_load,
    .rounds = rounds,
    .messages = exchange_messages,
};

}  // namespace dlnb::collectives
