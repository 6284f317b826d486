// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "machine/machine.hpp"

namespace dlnb {

/// Nodes by group, then by first-level switch, all ascending. A node belongs to the switch of its first NIC: where its
/// NICs are spread over several, nodes that share one share all.
using Domains = std::map<int, std::map<int, std::vector<int>>>;

Domains domains_of(const Machine& machine, std::span<const int> nodes);

/// Nodes that so many ranks take.
int nodes_for(const Machine& machine, std::int64_t ranks);

/// Rank after rank on the devices of these nodes, in this order.
Placement fill(const Machine& machine, const std::vector<int>& nodes, std::int64_t ranks);

/// A placement that cannot be had, and why.
[[noreturn]] void refuse_placement(const PlacementTask& task, const std::string& reason);

/// Blocks of `task.block` nodes that `task` asks for. Throws UserError where its nodes are no whole blocks, or one only.
int blocks_for(const Machine& machine, const PlacementTask& task);

/// The first switches of a random order that have enough nodes for a block, one block of each, ascending by switch.
/// Fewer where there are not enough.
std::vector<std::vector<int>> draw_blocks(const std::map<int, std::vector<int>>& switches, int block,
                                          std::size_t count, std::int64_t seed);

}  // namespace dlnb
