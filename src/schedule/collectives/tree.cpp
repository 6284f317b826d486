// SPDX-License-Identifier: Apache-2.0
// Double binary tree all-reduce. Two trees over the nodes carry half of the vector each: reduced towards the
// root, then sent back down. A node that has children in one tree is a leaf in the other, so that each sends
// and receives the vector about twice and no link is idle. In a node the members form a chain behind the one
// with the NIC.
//   N nodes of d members, S bytes, R rails: S/2R up and S/2R down per edge of a tree
//   dependent steps 2(d-1) + 2·depth, depth = ⌊log2(N-1)⌋ + 1
// Data moves on in pieces. An edge carries S/2R up and down, an inner node's NIC four such (to two children, to the
// parent, and as a leaf of the other tree): at every node on the way two of them pass before a piece is on both
// children, which is half of the time the whole takes per byte. 2·depth steps: depth times a piece's time.
// Source: P. Sanders, J. Speck, J. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and
// scan", Parallel Computing 35(12), 2009; for the layout NVIDIA, NCCL 2.x, src/graph/trees.cc; trees.hpp.
#include <algorithm>
#include <cmath>

#include "parts.hpp"
#include "rails.hpp"
#include "trees.hpp"

namespace dlnb::collectives {
namespace {

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

bool fits(OperationKind, const GroupShape& shape) { return shape.nodes > 1; }

Steps steps(OperationKind, const GroupShape& shape) {
  return {2 * std::max(0.0, std::ceil(shape.per_node()) - 1), 2.0 * depth(shape.nodes)};
}

Load load(OperationKind kind, const GroupShape& shape) {
  if (kind == OperationKind::barrier) return {};
  const double out =
      shape.nodes == 2 ? 1 : 2;  // with two nodes each is the other's only neighbour, once up, once down
  return {shape.per_node() > 1 ? 2.0 : 0, shape.nodes > 1 ? out / shape.rails : 0};
}

/// `chains[k]`: the members of the tree's node k on one rail, the one with the NIC first; two trees a rail.
std::vector<std::vector<std::vector<int>>> layout(std::span<const Member> members) {
  const Nodes nodes(members);
  const int count = int(nodes.size());
  std::vector<std::vector<std::vector<int>>> trees;
  for (std::size_t rail = 0; rail < rails_of(nodes); ++rail)
    for (const bool second : {false, true}) {
      auto& chains = trees.emplace_back();
      for (int k = 0; k < count; ++k)
        chains.push_back(walk_from(nodes[std::size_t(second ? second_tree(k, count) : k)], rail));
    }
  return trees;
}

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  Traffic traffic;
  if (members.size() < 2) return traffic;
  const auto trees = layout(members);
  traffic.flows.reserve(2 * trees.size() * members.size());
  Tree tree(traffic, kind == OperationKind::barrier ? 0 : bytes / double(trees.size()));
  for (const auto& chains : trees) tree.add(chains);
  traffic.steps = int(traffic.critical.size());
  traffic.filling = depth(int(trees.front().size()));
  return traffic;
}

/// Piece k climbs an edge whose lower end is d edges from the root in round D - d + k, and comes down it in round
/// D + d - 1 + k, where D is the deepest.
std::vector<Round> rounds(OperationKind, std::span<const Member> members, std::int64_t elements) {
  struct Edge {
    int lower, upper, depth;
    Part part;
  };
  std::vector<Edge> edges;
  const auto trees = layout(members);
  int deepest = 0;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const Part part = part_of({0, elements}, std::int64_t(t), std::int64_t(trees.size()));
    const int nodes = int(trees[t].size());
    for (int k = 0; k < nodes; ++k) {
      const std::vector<int>& chain = trees[t][std::size_t(k)];
      const int first = depth_of(k, nodes);
      if (k > 0) edges.push_back({chain[0], trees[t][std::size_t(parent_of(k, nodes))][0], first, part});
      for (std::size_t i = 1; i < chain.size(); ++i)
        edges.push_back({chain[i], chain[i - 1], first + int(i), part});
      deepest = std::max(deepest, first + int(chain.size()) - 1);
    }
  }
  const std::int64_t count = std::clamp(elements / std::int64_t(trees.size()), std::int64_t{1}, pieces);
  std::vector<Round> rounds(std::size_t(2 * deepest - 1 + count));
  for (const Edge& edge : edges)
    for (std::int64_t k = 0; k < count; ++k) {
      const Part piece = part_of(edge.part, k, count);
      rounds[std::size_t(deepest - edge.depth + k)].push_back(hop(edge.lower, edge.upper, piece, true));
      rounds[std::size_t(deepest + edge.depth - 1 + k)].push_back(hop(edge.upper, edge.lower, piece, false));
    }
  return rounds;
}

}  // namespace

extern constinit const Collective tree{
    .name = "tree",
    .summary = "all-reduce over two complementary binary trees of nodes, latency grows with their logarithm",
    .handles = handles,
    .fits = fits,
    .is_usual = true,
    .traffic = traffic,
    .steps = steps,
    .load = load,
    .rounds = rounds,
};

}  // namespace dlnb::collectives
