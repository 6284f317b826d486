// SPDX-License-Identifier: Apache-2.0
// Direct (pairwise) all-to-all: every member sends its part to every other, in n-1 rounds of disjoint pairs.
//   n members, S bytes sent by each (its own part included): S/n per ordered pair, n-1 steps
// Source: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, "pairwise exchange".
#include <dlnb/collective.hpp>

namespace dlnb::collectives {
namespace {

bool handles(OperationKind kind) { return kind == OperationKind::all_to_all; }

Traffic traffic(OperationKind, std::span<const Member> members, double bytes) {
  const int n = int(members.size());
  if (n < 2) return {};
  Traffic traffic{{}, n - 1};
  traffic.flows.reserve(std::size_t(n) * std::size_t(n - 1));
  for (int round = 1; round < n; ++round)
    for (int from = 0; from < n; ++from) traffic.flows.push_back({from, (from + round) % n, bytes / n});
  return traffic;
}

}  // namespace

extern constinit const Collective direct{
    .name = "direct",
    .summary = "all-to-all as pairwise exchange",
    .handles = handles,
    .traffic = traffic,
};

}  // namespace dlnb::collectives
