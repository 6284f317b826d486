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

#include <algorithm>
#include <span>
#include <vector>

#include <dlnb/collective.hpp>

#include "parts.hpp"

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

/// The longest way around rings that visit node after node.
inline Steps ring_way(OperationKind kind, const GroupShape& shape) {
  const int all = ring_steps(kind, shape.members);
  const double between = shape.nodes > 1 ? ring_steps(kind, shape.nodes) : 0;
  return {all - between, between};
}

inline Load ring_load(OperationKind kind, const GroupShape& shape) {
  const double edge = ring_edge_bytes(kind, shape.members, 1);
  return {shape.nodes < shape.members ? edge : 0, shape.nodes > 1 ? edge / shape.rails : 0};
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

/// The same as messages. Member `ring[p]` hands a part to `ring[p+1]`, in every round the one it has just received.
///   all-reduce, barrier   every ring's share in n blocks: n-1 rounds that add, n-1 that spread
///   all-gather            in round t the part of the member t places back
///   reduce-scatter        in round t the part of the member t+1 places back, which it so reaches after n-1
///   broadcast             piece by piece down the chain, from where the ring leaves member 0
inline std::vector<Round> ring_rounds(const std::vector<Ring>& rings, OperationKind kind,
                                      std::int64_t elements) {
  const int n = int(rings.front().size());
  const auto shares = std::int64_t(rings.size());
  const Part all{0, elements};
  std::vector<Round> rounds;
  if (kind == OperationKind::broadcast) {
    const std::int64_t count = std::clamp(elements / shares, std::int64_t{1}, pieces);
    rounds.resize(std::size_t(n - 2 + count));
    for (std::int64_t c = 0; c < shares; ++c) {
      Ring chain = rings[std::size_t(c)];
      std::rotate(chain.begin(), std::ranges::find(chain, 0), chain.end());
      for (int p = 0; p + 1 < n; ++p)
        for (std::int64_t k = 0; k < count; ++k)
          rounds[std::size_t(p + k)].push_back(hop(chain[std::size_t(p)], chain[std::size_t(p + 1)],
                                                   part_of(part_of(all, c, shares), k, count), false));
    }
    return rounds;
  }
  const bool both = kind == OperationKind::all_reduce || kind == OperationKind::barrier;
  rounds.resize(std::size_t(ring_steps(kind, n)));
  for (std::size_t t = 0; t < rounds.size(); ++t)
    for (std::int64_t c = 0; c < shares; ++c) {
      const Ring& ring = rings[std::size_t(c)];
      const bool adds = kind == OperationKind::reduce_scatter || (both && int(t) < n - 1);
      for (int p = 0; p < n; ++p) {
        const auto back = [&](int places) { return ((p - places) % n + n) % n; };
        Part part;
        if (both) part = part_of(part_of(all, c, shares), back(adds ? int(t) : int(t) - n), n);
        else part = part_of(part_of(all, ring[std::size_t(back(int(t) + (adds ? 1 : 0)))], n), c, shares);
        rounds[t].push_back(hop(ring[std::size_t(p)], ring[std::size_t((p + 1) % n)], part, adds));
      }
    }
  return rounds;
}

/// How many messages these are over `rings` of n members: every part makes all steps.
inline std::int64_t ring_messages(OperationKind kind, std::int64_t rings, std::int64_t n,
                                  std::int64_t elements) {
  if (kind == OperationKind::broadcast)
    return parts_sent(elements, rings * std::clamp(elements / rings, std::int64_t{1}, pieces)) * (n - 1);
  return parts_sent(elements, rings * n) * ring_steps(kind, int(n));
}

}  // namespace dlnb::collectives
