// SPDX-License-Identifier: Apache-2.0
// Irregular, as a job inside a reservation of a few groups: nodes drawn at random out of three neighbouring groups (more
// where they do not hold it), and taken in the machine's order. How many share a switch or a group is left to chance.
// Three groups are the reservations of the DLNetBench paper, section V.
#include <fmt/format.h>

#include <algorithm>

#include "machine/domains.hpp"
#include "machine/draw.hpp"

namespace dlnb::placements {
namespace {

constexpr std::size_t groups_reserved = 3;

Placement place(const Machine& machine, const PlacementTask& task) {
  const auto wanted = std::size_t(nodes_for(machine, task.ranks));
  std::vector<std::vector<int>> groups;
  for (const auto& [group, switches] : domains_of(machine, task.nodes)) {
    groups.emplace_back();
    for (const auto& [index, nodes] : switches)
      groups.back().insert(groups.back().end(), nodes.begin(), nodes.end());
  }
  Draw draw{task.seed};
  const std::size_t first = draw.below(groups.size());
  std::vector<int> reserved;
  for (std::size_t g = 0; g < groups.size() && (g < groups_reserved || reserved.size() < wanted); ++g) {
    const std::vector<int>& group = groups[(first + g) % groups.size()];
    reserved.insert(reserved.end(), group.begin(), group.end());
  }
  draw.first(reserved, wanted);
  reserved.resize(wanted);
  std::sort(reserved.begin(), reserved.end());
  return fill(machine, reserved, task.ranks);
}

}  // namespace

extern constinit const PlacementKind reservation{
    .name = "reservation",
    .summary = "nodes drawn at random out of three neighbouring groups: irregular, as inside a reservation",
    .on_switches = true,
    .place = place,
};

}  // namespace dlnb::placements
