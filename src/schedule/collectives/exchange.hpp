// SPDX-License-Identifier: Apache-2.0
// What an all-to-all moves: S/n for every ordered pair of n members, S bytes sent by each, its own part included.
#pragma once

#include <span>
#include <vector>

#include <dlnb/collective.hpp>

#include "parts.hpp"

namespace dlnb::collectives {

inline bool is_exchange(OperationKind kind) { return kind == OperationKind::all_to_all; }

inline Load exchange_load(OperationKind, const GroupShape& shape) {
  const double here = shape.per_node(), n = shape.members;
  return {(here - 1) / n, shape.nodes > 1 ? (n - here) / n * here / shape.rails : 0};
}

/// Round r: everybody sends to the member r places on.
inline std::vector<Flow> exchange_flows(int members, double bytes) {
  std::vector<Flow> flows;
  flows.reserve(std::size_t(members) * std::size_t(members - 1));
  for (int round = 1; round < members; ++round)
    for (int from = 0; from < members; ++from)
      flows.push_back({from, (from + round) % members, bytes / members});
  return flows;
}

/// The same rounds as messages.
inline std::vector<Round> exchange_rounds(int members, std::int64_t elements) {
  std::vector<Round> rounds;
  for (int distance = 1; distance < members; ++distance) {
    Round& round = rounds.emplace_back();
    for (int from = 0; from < members; ++from) {
      const int to = (from + distance) % members;
      round.push_back(hop(from, to, part_of({0, elements}, to, members), false));
    }
  }
  return rounds;
}

inline std::int64_t exchange_messages(OperationKind, std::span<const Member> members, std::int64_t elements) {
  const auto n = std::int64_t(members.size());
  return parts_sent(elements, n) * (n - 1);
}

}  // namespace dlnb::collectives
