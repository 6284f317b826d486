// SPDX-License-Identifier: Apache-2.0
#include "machine/domains.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <dlnb/error.hpp>

#include "machine/draw.hpp"

namespace dlnb {

Domains domains_of(const Machine& machine, std::span<const int> nodes) {
  DLNB_REQUIRE(machine.network && machine.nics_per_node > 0, "several nodes hang on a network");
  Domains domains;
  for (const int node : nodes) {
    const int nic = node * machine.nics_per_node;
    domains[machine.network->group_of(nic)][machine.network->switch_of(nic)].push_back(node);
  }
  return domains;
}

int nodes_for(const Machine& machine, std::int64_t ranks) {
  return int((ranks + machine.devices_per_node - 1) / machine.devices_per_node);
}

Placement fill(const Machine& machine, const std::vector<int>& nodes, std::int64_t ranks) {
  Placement device_of;
  device_of.reserve(std::size_t(ranks));
  for (const int node : nodes)
    for (int d = 0; d < machine.devices_per_node && std::int64_t(device_of.size()) < ranks; ++d)
      device_of.push_back(node * machine.devices_per_node + d);
  DLNB_REQUIRE(std::int64_t(device_of.size()) == ranks, "a placement takes nodes enough");
  return device_of;
}

void refuse_placement(const PlacementTask& task, const std::string& reason) {
  throw UserError(task.where, reason, "choose another placement, other ranks or another machine");
}

int blocks_for(const Machine& machine, const PlacementTask& task) {
  const int nodes = nodes_for(machine, task.ranks);
  if (nodes % task.block != 0)
    refuse_placement(task, fmt::format("{} nodes are no whole blocks of {}", nodes, task.block));
  if (nodes == task.block)
    refuse_placement(task, fmt::format("one block of {} nodes is intra-l1", task.block));
  return nodes / task.block;
}

std::vector<std::vector<int>> draw_blocks(const std::map<int, std::vector<int>>& switches, int block,
                                          std::size_t count, std::int64_t seed) {
  std::vector<int> able;
  for (const auto& [index, nodes] : switches)
    if (nodes.size() >= std::size_t(block)) able.push_back(index);
  count = std::min(count, able.size());
  Draw{seed}.first(able, count);
  able.resize(count);
  std::sort(able.begin(), able.end());
  std::vector<std::vector<int>> blocks;
  for (const int index : able) {
    const std::vector<int>& nodes = switches.at(index);
    blocks.emplace_back(nodes.begin(), nodes.begin() + block);
  }
  return blocks;
}

}  // namespace dlnb
