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
  std::span<const int> members;
  std::span<const std::size_t> nic_starts;
};

/// A group's nodes in the order of their first member.
class Nodes {
 public:
  explicit Nodes(std::span<const Member> members);
  Nodes(const Nodes&) = delete;  // nodes see parts of its lists

  std::size_t size() const { return nodes_.size(); }
  const NodeMembers& operator[](std::size_t index) const { return nodes_[index]; }
  const NodeMembers& front() const { return nodes_.front(); }
  auto begin() const { return nodes_.begin(); }
  auto end() const { return nodes_.end(); }

 private:
  std::vector<int> members_;
  std::vector<std::size_t> nic_starts_;
  std::vector<NodeMembers> nodes_;
};

/// Groups mostly come in order.
template <class T>
void sort_if_needed(std::vector<T>& values) {
  if (!std::is_sorted(values.begin(), values.end())) std::sort(values.begin(), values.end());
}

inline Nodes::Nodes(std::span<const Member> members) {
  std::vector<std::pair<int, int>> by_number;  // node, member
  by_number.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) by_number.emplace_back(members[i].node, int(i));
  sort_if_needed(by_number);
  std::vector<std::array<int, 3>> order(members.size());  // first member of the node, NIC, member
  int first = 0;
  for (std::size_t k = 0; k < by_number.size(); ++k) {
    const auto [node, member] = by_number[k];
    if (k == 0 || by_number[k - 1].first != node) first = member;
    order[std::size_t(member)] = {first, members[std::size_t(member)].nic, member};
  }
  sort_if_needed(order);

  members_.reserve(order.size());
  for (const auto& [place, nic, member] : order) members_.push_back(member);
  nic_starts_.reserve(order.size());  // never moves: nodes see parts of it
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const std::size_t first_start = nic_starts_.size();
    for (; end < order.size() && order[end][0] == order[begin][0]; ++end)
      if (end == begin || order[end][1] != order[end - 1][1]) nic_starts_.push_back(end - begin);
    nodes_.push_back({members[std::size_t(members_[begin])].node,
                      std::span(members_).subspan(begin, end - begin),
                      std::span(nic_starts_).subspan(first_start)});
  }
}

/// How many rails the nodes have; one where there is only one node, whose members need no NIC.
inline std::size_t rails_of(const Nodes& nodes) {
  if (nodes.size() < 2) return 1;
  std::size_t rails = nodes.front().nic_starts.size();
  for (const NodeMembers& node : nodes) rails = std::min(rails, node.nic_starts.size());
  return rails;
}

/// Adds the members of a node, those on the rail's NIC first.
inline void add_walk(const NodeMembers& node, std::size_t rail, std::vector<int>& walk) {
  for (const int member : node.members.subspan(node.nic_starts[rail])) walk.push_back(member);
  for (const int member : node.members.first(node.nic_starts[rail])) walk.push_back(member);
}
inline std::vector<int> walk_from(const NodeMembers& node, std::size_t rail) {
  std::vector<int> walk;
  walk.reserve(node.members.size());
  add_walk(node, rail, walk);
  return walk;
}

}  // namespace dlnb::collectives
