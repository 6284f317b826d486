// SPDX-License-Identifier: Apache-2.0
// A collective as one activity. Its rate is that of its largest flow (the reference flow) in bytes/s; the
// others move in proportion.
//   weight of a link = Σ over flows crossing it of bytes / bytes of the reference flow
//   latency          = start + Σ over the steps of the longest way of (step + Σ link latencies)
// A measured efficiency of one kind of operation makes its flows that much larger on the links.
// An algorithm may say which flows that way leads over (trees). Otherwise every step costs the mean over all
// flows, not the largest: a step waits for its predecessor's step only, so what adds up along the
// dependencies of a ring is the way around it (max-plus cycle mean: F. Baccelli et al., "Synchronization and
// Linearity", 1992, ch. 3).
#include "executor/sim/paths.hpp"

#include <algorithm>

#include <dlnb/error.hpp>

namespace dlnb::sim {

std::vector<const Collective*> candidates(OperationKind kind, bool one_node) {
  auto called = [](std::string_view name) { return &entry_called(collectives::all(), name, "collective"); };
  if (kind == OperationKind::all_to_all) return {called("direct")};
  if (one_node) return {called("ring"), called("mesh_rings")};
  if (called("tree")->handles(kind)) return {called("ring"), called("tree")};
  return {called("ring")};
}

Path Paths::merge(const Traffic& traffic, std::span<const Member> members, const OperationCost& cost,
                  const Pattern& pattern) {
  Path path;
  uses_.clear();
  router_.lead(traffic, members, beside_[pattern], uses_, latency_);
  double largest = 0, latencies = 0;
  for (const Flow& flow : traffic.flows) largest = std::max(largest, flow.bytes);
  for (const double latency : latency_) latencies += latency;
  std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
    return a.link != b.link ? a.link < b.link : a.weight < b.weight;
  });
  for (const Use& use : uses_) {
    if (path.uses.empty() || path.uses.back().link != use.link) path.uses.push_back({use.link, 0});
    path.uses.back().weight += use.weight / (largest * cost.efficiency);
  }
  path.uses.shrink_to_fit();
  path.share = largest;
  path.alone = capacities_.alone(path);
  path.latency = cost.start.value + traffic.steps * cost.step.value;
  for (const int flow : traffic.critical) path.latency += latency_[std::size_t(flow)];
  if (traffic.critical.empty() && !traffic.flows.empty())
    path.latency += traffic.steps * latencies / double(traffic.flows.size());
  return path;
}

std::vector<Path> Paths::collective(OperationKind kind, std::span<const std::int32_t> ranks,
                                    std::int32_t job) {
  std::vector<Member> members;
  members.reserve(ranks.size());
  bool one_node = true;
  for (const std::int32_t rank : ranks) {
    const int device = placement_[std::size_t(rank)];
    members.push_back(
        {device, machine_.node_of(device), machine_.nics_per_node > 0 ? machine_.nic_of(device) : 0});
    one_node = one_node && members.back().node == members.front().node;
  }
  std::vector<Path> paths;
  const OperationCost cost = machine_.software.cost_of(name_of(kind));
  for (const Collective* algorithm : candidates(kind, one_node)) {
    DLNB_REQUIRE(algorithm->handles(kind), "a chosen algorithm handles the collective");
    const std::int32_t apart = ranks.size() > 1 ? ranks[1] - ranks[0] : 0;
    paths.push_back(merge(algorithm->traffic(kind, members, 1), members, cost,
                          {job, kind, algorithm, std::int32_t(ranks.size()), apart}));
  }
  return paths;
}

Path Paths::message(std::int32_t from, std::int32_t to, std::int32_t job) {
  const Member members[] = {{placement_[std::size_t(from)]}, {placement_[std::size_t(to)]}};
  return merge({{{0, 1, 1.0}}, 1}, members, machine_.software.cost_of("message"),
               {job, OperationKind::send, nullptr, 2, to - from});
}

}  // namespace dlnb::sim
