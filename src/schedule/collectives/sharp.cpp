// SPDX-License-Identifier: Apache-2.0
// All-reduce in the switches between nodes (SHARP): member j of a node collects the j-th part of the vector from the
// others, sends it to the switches and gets the sum back.
//   N nodes of d members, S bytes: S/d to every other member of the node, twice; S/d sent and S/d received by every
//   member over its NIC, whatever N is, instead of the 2(N-1)/N · S/d of a ring
// Source: R. Graham et al., "Scalable Hierarchical Aggregation Protocol (SHArP): A Hardware Architecture for Efficient
// Data Reduction", COMHPC 2016; NVIDIA, NCCL 2.x, CollNetDirect.
// Flows go from every node to the next, since switches are no ends here. The NICs carry what they do in reality; the
// cables between switches carry more than in a tree of reductions.
#include "rails.hpp"

namespace dlnb::collectives {
namespace {

bool handles(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::barrier;
}

bool fits(OperationKind, const GroupShape& shape) {
  return shape.network_reduces && shape.nodes > 1 && shape.even;
}

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  Traffic traffic;
  if (members.size() < 2) return traffic;
  const Nodes nodes(members);
  const std::size_t count = nodes.size(), d = nodes.front().members.size();
  const double part = kind == OperationKind::barrier ? 0 : bytes / double(d);
  int inside = -1, between = -1;
  for (std::size_t k = 0; k < count; ++k) {
    const std::span<const int> here = nodes[k].members;
    const std::span<const int> next = nodes[(k + 1) % count].members;
    for (std::size_t i = 0; i < here.size(); ++i) {
      for (std::size_t j = 0; j < here.size(); ++j)
        if (i != j) inside = int(traffic.flows.size()), traffic.flows.push_back({here[i], here[j], 2 * part});
      if (count == 1) continue;
      between = int(traffic.flows.size());
      traffic.flows.push_back({here[i], next[i % next.size()], part});
    }
  }
  if (inside >= 0) traffic.critical.push_back(inside);
  if (between >= 0) traffic.critical.push_back(between);
  if (inside >= 0) traffic.critical.push_back(inside);
  traffic.steps = int(traffic.critical.size());
  return traffic;
}

Steps steps(OperationKind, const GroupShape& shape) { return {shape.members > shape.nodes ? 2.0 : 0.0, 1}; }

Load load(OperationKind kind, const GroupShape& shape) {
  if (kind == OperationKind::barrier) return {};
  const double d = shape.per_node();
  return {2 * (d - 1) / d, 1.0 / shape.rails};
}

}  // namespace

extern constinit const Collective sharp{
    .name = "sharp",
    .summary = "all-reduce in the switches between nodes",
    .handles = handles,
    .fits = fits,
    .traffic = traffic,
    .steps = steps,
    .load = load,
};

}  // namespace dlnb::collectives
