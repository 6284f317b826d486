// SPDX-License-Identifier: Apache-2.0
// Hierarchical: inside the nodes and between them by turns. N nodes of d members each; member j of a node works with
// the members j of the others, on the j-th part of the vector.
//   reduce-scatter in the node, directly    S/d to every other member, one step
//   ring between nodes on S/d               all-reduce 2(N-1) steps and 2(N-1)/N · S/d sent; gather, scatter half
//   all-gather in the node, directly        S/d to every other member, one step
// An all-gather has the last two only, a reduce-scatter the first two.
// Source: M. Cho, U. Finkler, D. Kung, H. Hunter, "BlueConnect: Decomposing all-reduce for deep learning on
// heterogeneous network hierarchy", MLSys 2019.
// Members of a node all have a NIC's share; the phases share no link, so that running as one activity the slower one
// decides. An implementation that does not pipeline takes the sum; then this is optimistic by the faster phase.
#include <algorithm>

#include "parts.hpp"
#include "rails.hpp"

namespace dlnb::collectives {
namespace {

bool handles(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::barrier ||
         kind == OperationKind::all_gather || kind == OperationKind::reduce_scatter;
}

bool fits(OperationKind, const GroupShape& shape) {
  return shape.nodes > 1 && shape.even && shape.members > shape.nodes;
}

bool is_both(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::barrier;
}
bool reduces(OperationKind kind) { return kind != OperationKind::all_gather; }
bool gathers(OperationKind kind) { return kind != OperationKind::reduce_scatter; }

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  Traffic traffic;
  if (members.size() < 2) return traffic;
  const Nodes nodes(members);
  const int count = int(nodes.size()), d = int(nodes.front().members.size());
  const double part = kind == OperationKind::barrier ? 0 : bytes / d;
  const double passes = is_both(kind) ? 2 : 1;
  int inside = -1, between = -1;
  for (int k = 0; k < count; ++k) {
    const std::span<const int> here = nodes[std::size_t(k)].members;
    const std::span<const int> next = nodes[std::size_t((k + 1) % count)].members;
    for (std::size_t i = 0; i < here.size(); ++i) {
      for (std::size_t j = 0; j < here.size(); ++j)
        if (i != j)
          inside = int(traffic.flows.size()), traffic.flows.push_back({here[i], here[j], passes * part});
      if (count == 1 || i >= next.size()) continue;
      between = int(traffic.flows.size());
      traffic.flows.push_back({here[i], next[i], passes * (count - 1) / count * part});
    }
  }
  if (inside >= 0 && reduces(kind)) traffic.critical.push_back(inside);
  if (between >= 0)
    traffic.critical.insert(traffic.critical.end(), std::size_t(passes * (count - 1)), between);
  if (inside >= 0 && gathers(kind)) traffic.critical.push_back(inside);
  traffic.steps = int(traffic.critical.size());
  return traffic;
}

Steps steps(OperationKind kind, const GroupShape& shape) {
  const double passes = is_both(kind) ? 2 : 1;
  return {passes, passes * (shape.nodes - 1)};
}

Load load(OperationKind kind, const GroupShape& shape) {
  if (kind == OperationKind::barrier) return {};
  const double passes = is_both(kind) ? 2 : 1, d = shape.per_node(), n = shape.nodes;
  return {passes * (d - 1) / d, passes * (n - 1) / n / shape.rails};
}

std::vector<Round> rounds(OperationKind kind, std::span<const Member> members, std::int64_t elements) {
  const Nodes nodes(members);
  const int count = int(nodes.size()), d = int(nodes.front().members.size());
  const auto member = [&](int k, int j) { return nodes[std::size_t(k)].members[std::size_t(j)]; };
  const Part all{0, elements};
  // The j-th part of the vector, cut into one block per node. All-gather, reduce-scatter: the member's own parts.
  const auto block = [&](int j, int k) {
    return is_both(kind) ? part_of(part_of(all, j, d), k, count)
                         : part_of(all, member(k, j), std::int64_t(members.size()));
  };
  std::vector<Round> rounds;
  const auto inside = [&](bool adds) {
    Round& round = rounds.emplace_back();
    for (int k = 0; k < count; ++k)
      for (int i = 0; i < d; ++i)
        for (int j = 0; j < d; ++j)
          if (i != j && is_both(kind))
            round.push_back(hop(member(k, i), member(k, j), part_of(all, adds ? j : i, d), adds));
          else
            for (int b = 0; i != j && b < count; ++b)
              round.push_back(hop(member(k, i), member(k, j), block(adds ? j : i, b), adds));
  };
  // Round t of a ring over nodes: node k hands on the block of the node `lag` + t places back.
  const auto between = [&](bool adds, int lag) {
    for (int t = 0; t + 1 < count; ++t) {
      Round& round = rounds.emplace_back();
      for (int k = 0; k < count; ++k)
        for (int j = 0; j < d; ++j)
          round.push_back(hop(member(k, j), member((k + 1) % count, j),
                              block(j, ((k - lag - t) % count + count) % count), adds));
    }
  };
  if (reduces(kind)) {
    inside(true);
    between(true, 1);
  }
  if (gathers(kind)) {
    between(false, 0);
    inside(false);
  }
  return rounds;
}

/// Inside nodes everybody to everybody, for gathering and scattering a block for each node; between them around N nodes.
std::int64_t messages(OperationKind kind, std::span<const Member> members, std::int64_t elements) {
  const auto nodes = std::int64_t(Nodes(members).size()), n = std::int64_t(members.size()), d = n / nodes;
  const std::int64_t inside = nodes * (d - 1) * parts_sent(elements, is_both(kind) ? d : n);
  const std::int64_t between = parts_sent(elements, n) * (nodes - 1);
  return (reduces(kind) + gathers(kind)) * (inside + between);
}

}  // namespace

extern constinit const Collective hierarchical{
    .name = "hierarchical",
    .summary = "directly inside nodes, in rings between equal members of them",
    .handles = handles,
    .fits = fits,
    .traffic = traffic,
    .steps = steps,
    .load = load,
    .rounds = rounds,
    .messages = messages,
};

}  // namespace dlnb::collectives
