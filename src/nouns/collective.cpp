// SPDX-License-Identifier: Apache-2.0
#include <dlnb/collective.hpp>

#include <algorithm>
#include <utility>

namespace dlnb {

GroupShape shape_of(std::span<const Member> members) {
  GroupShape shape;
  shape.members = int(members.size());
  std::vector<std::pair<int, int>> places;  // node, NIC
  places.reserve(members.size());
  for (const Member& member : members) places.emplace_back(member.node, member.nic);
  if (!std::ranges::is_sorted(places)) std::ranges::sort(places);  // linear placement sorts
  std::size_t first_size = 0;
  shape.nodes = 0;
  for (std::size_t i = 0; i < places.size();) {
    const std::size_t begin = i;
    int nics = 0;
    for (; i < places.size() && places[i].first == places[begin].first; ++i)
      nics += i == begin || places[i].second != places[i - 1].second;
    if (begin == 0) first_size = i;
    shape.even = shape.even && i - begin == first_size;
    shape.rails = begin == 0 ? nics : std::min(shape.rails, nics);
    ++shape.nodes;
  }
  shape.nodes = std::max(shape.nodes, 1);
  if (shape.nodes == 1) shape.rails = 1;
  return shape;
}

}  // namespace dlnb
