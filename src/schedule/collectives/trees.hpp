// SPDX-License-Identifier: Apache-2.0
// Two complementary binary trees over nodes 0 … N-1: a node that has children in one is a leaf in the other.
// The first: node k > 0 has the parent that results from moving its lowest set bit one place up (from clearing
// it where that is no node); node 0 is the root. The second tree is the first with the nodes renumbered:
// mirrored where their number is even, moved on by one where it is odd.
// Source: P. Sanders, J. Speck, J. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// Parallel Computing 35(12), 2009; NVIDIA, NCCL 2.x, src/graph/trees.cc.
#pragma once

#include <bit>

namespace dlnb::collectives {

inline int parent_of(int node, int nodes) {
  const int lowest = node & -node;
  const int up = (node ^ lowest) | lowest << 1;
  return up < nodes ? up : node ^ lowest;
}

inline int depth_of(int node, int nodes) {
  int depth = 0;
  for (; node != 0; node = parent_of(node, nodes)) ++depth;
  return depth;
}

/// Which node takes the place of the first tree's node `k` in the second.
inline int second_tree(int k, int nodes) { return nodes % 2 == 0 ? nodes - 1 - k : (k + 1) % nodes; }

/// Edges between the deepest node and the root.
inline int depth(int nodes) { return nodes < 2 ? 0 : std::bit_width(unsigned(nodes - 1)); }

}  // namespace dlnb::collectives
