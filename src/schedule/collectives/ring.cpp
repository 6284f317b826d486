// SPDX-License-Identifier: Apache-2.0
// Rings over rails, as NCCL lays them out: every ring visits the nodes one after the other, so that only one of its
// edges leaves a node; there are as many rings as the members of a node have NICs, and each leaves through another.
//
//   two nodes of four, one NIC per device      ring 0:  0 1 2 3 | 7 6 5 4      ring 1:  1 2 3 0 | 4 7 6 5
//
// Every second node is walked backwards: the edge between two nodes then joins equal NICs and stays on its rail
// (with an odd number of nodes all but the closing edge do).
// Source: NVIDIA, NCCL 2.x, src/graph (channel search and rings) and its environment variable NCCL_CROSS_NIC.
// Assumes that inside a node the order does not matter: true behind a switch; see mesh_rings for direct links.
#include <algorithm>

#include "rings.hpp"

namespace dlnb::collectives {
namespace {

/// The members of one node, in group order, and where a new NIC begins among them.
struct NodeMembers {
  int node = 0;
  std::vector<int> members;
  std::vector<std::size_t> nic_starts;
};

std::vector<NodeMembers> by_node(std::span<const Member> members) {
  // Nodes in the order of their first member, members of a node by NIC.
  std::vector<int> order(members.size());
  std::vector<std::pair<int, int>> first;  // node, its place
  for (std::size_t i = 0; i < members.size(); ++i) order[i] = int(i), first.emplace_back(members[i].node, int(i));
  std::sort(first.begin(), first.end());
  first.erase(std::unique(first.begin(), first.end(), [](auto& a, auto& b) { return a.first == b.first; }),
              first.end());
  auto place = [&](int member) {
    const int node = members[std::size_t(member)].node;
    return std::lower_bound(first.begin(), first.end(), std::pair{node, -1})->second;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const int pa = place(a), pb = place(b);
    return pa != pb ? pa < pb : members[std::size_t(a)].nic < members[std::size_t(b)].nic;
  });

  std::vector<NodeMembers> nodes;
  for (const int i : order) {
    const Member& member = members[std::size_t(i)];
    if (nodes.empty() || nodes.back().node != member.node) nodes.push_back({member.node, {}, {}});
    NodeMembers& here = nodes.back();
    if (here.members.empty() || members[std::size_t(here.members.back())].nic != member.nic)
      here.nic_starts.push_back(here.members.size());
    here.members.push_back(i);
  }
  return nodes;
}

std::vector<Ring> rail_rings(std::span<const Member> members) {
  const std::vector<NodeMembers> nodes = by_node(members);
  std::size_t channels = members.size();
  for (const NodeMembers& node : nodes) channels = std::min(channels, node.nic_starts.size());
  if (nodes.size() < 2) channels = 1;

  std::vector<Ring> rings(channels);
  for (std::size_t channel = 0; channel < channels; ++channel)
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      std::vector<int> walk = nodes[k].members;
      std::rotate(walk.begin(), walk.begin() + std::ptrdiff_t(nodes[k].nic_starts[channel]), walk.end());
      if (k % 2 == 1) std::reverse(walk.begin(), walk.end());
      rings[channel].insert(rings[channel].end(), walk.begin(), walk.end());
    }
  return rings;
}

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  return around(rail_rings(members), kind, bytes);
}

}  // namespace

extern constinit const Collective ring{
    .name = "ring",
    .summary = "rings over nodes, one per NIC of a node; bandwidth-optimal, latency grows with the members",
    .handles = is_ring_collective,
    .traffic = traffic,
};

}  // namespace dlnb::collectives
