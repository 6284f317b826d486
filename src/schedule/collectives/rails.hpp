// SPDX-License-Identifier: Apache-2.0
// A group seen as nodes with rails: rail r is the r-th NIC that members of a node use, and each rail carries
// an equal part of a collective ("channels"). All nodes of a group have as many rails as the one with the
// fewest NICs.
// Source: NVIDIA, NCCL 2.x, src/graph (channel search).
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <dlnb/collective.hpp>

namespace dlnb::collectives {

/// The members of one node by NIC, and where a new NIC begins among them.
struct NodeMembers {
  int node = 0;
  std::vector<int> members;
  std::vector<std::size_t> nic_starts;
};

inline std::vector<NodeMembers> by_node(std::span<const Member> members) {
  // Nodes in the order of their first member, members of a node by NIC.
  std::vector<std::pair<int, int>> by_number;  // node, member
  by_number.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) by_number.emplace_back(members[i].node, int(i));
  std::sort(by_number.begin(), by_number.end());
  std::vector<std::array<int, 3>> order;  // first member of the node, NIC, member
  order.reserve(members.size());
  int first = 0;
  for (std::size_t k = 0; k < by_number.size(); ++k) {
    const auto [node, member] = by_number[k];
    if (k == 0 || by_number[k - 1].first != node) first = member;
    order.push_back({first, members[std::size_t(member)].nic, member});
  }
  std::sort(order.begin(), order.end());

  std::vector<NodeMembers> nodes;
  for (const auto& [place, nic, i] : order) {
    const Member& member = members[std::size_t(i)];
    if (nodes.empty() || nodes.back().node != member.node) nodes.push_back({member.node, {}, {}});
    NodeMembers& here = nodes.back();
    if (here.members.empty() || members[std::size_t(here.members.back())].nic != member.nic)
      here.nic_starts.push_back(here.members.size());
    here.members.push_back(i);
  }
  return nodes;
}

/// How many rails the nodes have; one where there is only one node, whose members need no NIC.
inline std::size_t rails_of(const std::vector<NodeMembers>& nodes) {
  if (nodes.size() < 2) return 1;
  std::size_t rails = nodes.front().nic_starts.size();
  for (const NodeMembers& node : nodes) rails = std::min(rails, node.nic_starts.size());
  return rails;
}

/// Adds the members of a node, those on the rail's NIC first.
inline void add_walk(const NodeMembers& node, std::size_t rail, std::vector<int>& walk) {
  const auto start = node.members.begin() + std::ptrdiff_t(node.nic_starts[rail]);
  walk.insert(walk.end(), start, node.members.end());
  walk.insert(walk.end(), node.members.begin(), start);
}
inline std::vector<int> walk_from(const NodeMembers& node, std::size_t rail) {
  std::vector<int> walk;
  walk.reserve(node.members.size());
  add_walk(node, rail, walk);
  return walk;
}

}  // namespace dlnb::collectives
