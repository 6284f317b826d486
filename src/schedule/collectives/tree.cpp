// SPDX-License-Identifier: Apache-2.0
// Double binary tree all-reduce. Two trees over the nodes carry half of the vector each: reduced towards the
// root, then sent back down. A node that has children in one tree is a leaf in the other, so that each sends
// and receives the vector about twice and no link is idle. In a node the members form a chain behind the one
// with the NIC.
//   N nodes of d members, S bytes, R rails: S/2R up and S/2R down per edge of a tree
//   dependent steps 2(d-1) + 2·depth, depth = ⌊log2(N-1)⌋ + 1
// The tree: node k > 0 has the parent that results from moving its lowest set bit one place up (from clearing
// it where that is no node); node 0 is the root. The second tree is the first with the nodes renumbered:
// mirrored where their number is even, moved on by one where it is odd.
// Source: P. Sanders, J. Speck, J. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan", Parallel Computing 35(12), 2009; for the layout NVIDIA, NCCL 2.x, src/graph/trees.cc.
#include <algorithm>

#include "rails.hpp"

namespace dlnb::collectives {
namespace {

int parent_of(int node, int nodes) {
  const int lowest = node & -node;
  const int up = (node ^ lowest) | lowest << 1;
  return up < nodes ? up : node ^ lowest;
}

int depth_of(int node, int nodes) {
  int depth = 0;
  for (; node != 0; node = parent_of(node, nodes)) ++depth;
  return depth;
}

/// Which node takes the place of the first tree's node `k` in the second.
int second_tree(int k, int nodes) { return nodes % 2 == 0 ? nodes - 1 - k : (k + 1) % nodes; }

bool handles(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::barrier;
}

/// One tree on one rail. Every edge is two flows, up and down; their indices are kept by node for the longest
/// path.
class Tree {
 public:
  Tree(Traffic& traffic, double bytes) : traffic_(traffic), bytes_(bytes) {}

  /// `chains[k]`: the members of the tree's node k, the one with the NIC first.
  void add(const std::vector<std::vector<int>>& chains) {
    const int nodes = int(chains.size());
    std::vector<std::vector<int>> up(chains.size());  // flows from the end of a node's chain up to its parent
    for (int k = 0; k < nodes; ++k) {
      const std::vector<int>& chain = chains[std::size_t(k)];
      for (std::size_t i = chain.size(); i-- > 1;) up[std::size_t(k)].push_back(edge(chain[i], chain[i - 1]));
      if (k > 0) up[std::size_t(k)].push_back(edge(chain[0], chains[std::size_t(parent_of(k, nodes))][0]));
    }
    if (traffic_.critical.empty()) traffic_.critical = longest(chains, up);
  }

 private:
  int edge(int from, int to) {
    traffic_.flows.push_back({from, to, bytes_});
    traffic_.flows.push_back({to, from, bytes_});
    return int(traffic_.flows.size()) - 2;
  }

  std::vector<int> longest(const std::vector<std::vector<int>>& chains,
                           const std::vector<std::vector<int>>& up) {
    const int nodes = int(chains.size());
    int deepest = 0;
    std::size_t most = 0;
    for (int k = 0; k < nodes; ++k) {
      const std::size_t length = std::size_t(depth_of(k, nodes)) + chains[std::size_t(k)].size();
      if (length > most) most = length, deepest = k;
    }
    std::vector<int> path = up[std::size_t(deepest)];
    for (int k = deepest; k != 0;) {
      k = parent_of(k, nodes);
      if (k != 0) path.push_back(up[std::size_t(k)].back());
    }
    const std::size_t half = path.size();
    for (std::size_t i = half; i-- > 0;) path.push_back(path[i] + 1);  // and down again
    return path;
  }

  Traffic& traffic_;
  double bytes_;
};

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  const std::vector<NodeMembers> nodes = by_node(members);
  const int count = int(nodes.size());
  const std::size_t rails = members.empty() ? 0 : rails_of(nodes);
  Traffic traffic;
  if (members.size() < 2) return traffic;
  traffic.flows.reserve(4 * rails * members.size());
  Tree tree(traffic, kind == OperationKind::barrier ? 0 : bytes / double(2 * rails));
  std::vector<std::vector<int>> chains(nodes.size());
  for (std::size_t rail = 0; rail < rails; ++rail) {
    for (int k = 0; k < count; ++k) chains[std::size_t(k)] = walk_from(nodes[std::size_t(k)], rail);
    tree.add(chains);
    for (int k = 0; k < count; ++k)
      chains[std::size_t(k)] = walk_from(nodes[std::size_t(second_tree(k, count))], rail);
    tree.add(chains);
  }
  traffic.steps = int(traffic.critical.size());
  return traffic;
}

}  // namespace

extern constinit const Collective tree{
    .name = "tree",
    .summary = "all-reduce over two complementary binary trees of nodes, latency grows with their logarithm",
    .handles = handles,
    .traffic = traffic,
};

}  // namespace dlnb::collectives
