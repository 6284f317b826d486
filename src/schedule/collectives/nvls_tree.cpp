// SPDX-License-Identifier: Apache-2.0
// All-reduce in the switches of every node (nvls.cpp), between nodes over two complementary trees: member j of a node
// owns the j-th part of the vector and reduces it with the members j of the others.
//   N nodes of d members, S bytes: S(1 + 1/d) per direction at a device; S/2d up and S/2d down per edge of a tree
//   dependent steps 1 in the node, 2·depth between nodes
// Source: as of nvls.cpp and trees.hpp; NVIDIA, NCCL 2.18 and later, NVLSTree.
#include "rails.hpp"
#include "trees.hpp"

namespace dlnb::collectives {
namespace {

bool handles(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::barrier;
}

bool fits(OperationKind, const GroupShape& shape) {
  return shape.node_reduces && shape.nodes > 1 && shape.even && shape.per_node() > 2;
}

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  Traffic traffic;
  if (members.size() < 2) return traffic;
  if (kind == OperationKind::barrier) bytes = 0;
  const Nodes nodes(members);
  const int count = int(nodes.size());
  const int d = int(nodes.front().members.size());
  for (const NodeMembers& node : nodes)
    for (std::size_t i = 0; d > 1 && i < node.members.size(); ++i)
      traffic.flows.push_back(
          {node.members[i], node.members[(i + 1) % node.members.size()], bytes * (1 + 1.0 / d)});
  if (d > 1) traffic.critical.push_back(0);
  std::vector<int> up(nodes.size());  // the flow from a node to its parent in the first tree
  for (int j = 0; j < d; ++j)
    for (const bool second : {false, true})
      for (int k = 1; k < count; ++k) {
        const auto member = [&](int place) {
          const std::span<const int> here =
              nodes[std::size_t(second ? second_tree(place, count) : place)].members;
          return here[std::size_t(j) % here.size()];
        };
        if (j == 0 && !second) up[std::size_t(k)] = int(traffic.flows.size());
        traffic.flows.push_back({member(k), member(parent_of(k, count)), bytes / (2 * d)});
        traffic.flows.push_back({member(parent_of(k, count)), member(k), bytes / (2 * d)});
      }
  int deepest = 0;
  for (int k = 0; k < count; ++k)
    if (depth_of(k, count) > depth_of(deepest, count)) deepest = k;
  std::vector<int> climb;
  for (int k = deepest; k != 0; k = parent_of(k, count)) climb.push_back(up[std::size_t(k)]);
  traffic.critical.insert(traffic.critical.end(), climb.begin(), climb.end());
  for (std::size_t i = climb.size(); i-- > 0;) traffic.critical.push_back(climb[i] + 1);
  traffic.steps = int(traffic.critical.size());
  traffic.filling = depth(count);
  return traffic;
}

Steps steps(OperationKind, const GroupShape& shape) { return {1, 2.0 * depth(shape.nodes)}; }

Load load(OperationKind kind, const GroupShape& shape) {
  if (kind == OperationKind::barrier) return {};
  return {1 + 1 / shape.per_node(), (shape.nodes == 2 ? 1.0 : 2.0) / shape.rails};
}

}  // namespace

extern constinit const Collective nvls_tree{
    .name = "nvls_tree",
    .summary = "all-reduce in the switches of the nodes, over two binary trees between them",
    .handles = handles,
    .fits = fits,
    .traffic = traffic,
    .steps = steps,
    .load = load,
};

}  // namespace dlnb::collectives
