// SPDX-License-Identifier: Apache-2.0
// Traffic of collectives that pass data around rings; several rings ("channels") carry an equal part each.
//   n members, a vector of S bytes, C rings; per edge of one ring and steps of the whole:
//   all-reduce                    2(n-1)/n · S/C    2(n-1)   reduce-scatter, then all-gather
//   all-gather, reduce-scatter     (n-1)/n · S/C     n-1     S: the n parts together
//   broadcast                                S/C     n-1     a chain from member 0; closing edge idle
//   barrier                                    0    2(n-1)   an empty all-reduce
// Source: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication Operations in
// MPICH", IJHPCA 19(1), 2005; P. Patarasu, X. Yuan, "Bandwidth optimal all-reduce algorithms", JPDC 69(2),
// 2009.
#pragma once

#include <span>
#include <vector>

#include <dlnb/collective.hpp>

namespace dlnb::collectives {

/// Members in the order in which data visits them; the last hands on to the first.
using Ring = std::vector<int>;

inline bool is_ring_collective(OperationKind kind) {
  return is_collective(kind) && kind != OperationKind::all_to_all;
}

/// What one edge of a lone ring carries of a vector of `bytes`.
inline double ring_edge_bytes(OperationKind kind, double members, double bytes) {
  switch (kind) {
    case OperationKind::all_reduce: return 2 * (members - 1) / members * bytes;
    case OperationKind::all_gather:
    case OperationKind::reduce_scatter: return (members - 1) / members * bytes;
    case OperationKind::broadcast: return bytes;
    default: return 0;
  }
}

inline int ring_steps(OperationKind kind, int members) {
  const bool twice = kind == OperationKind::all_reduce || kind == OperationKind::barrier;
  return (twice ? 2 : 1) * (members - 1);
}

inline Traffic around(const std::vector<Ring>& rings, OperationKind kind, double bytes) {
  Traffic traffic;
  if (rings.empty() || rings.front().size() < 2) return traffic;
  const int members = int(rings.front().size());
  const double each = ring_edge_bytes(kind, members, bytes) / double(rings.size());
  traffic.steps = ring_steps(kind, members);
  traffic.flows.reserve(rings.size() * std::size_t(members));
  for (const Ring& ring : rings)
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const int to = ring[i + 1 == ring.size() ? 0 : i + 1];
      if (kind == OperationKind::broadcast && to == 0) continue;  // nobody sends to the root
      traffic.flows.push_back({ring[i], to, each});
    }
  return traffic;
}

}  // namespace dlnb::collectives
