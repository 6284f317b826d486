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

/// By link, then by weight: sums are the same whatever the order of flows.
void Paths::order_uses() {
  const auto lighter = [](const Use& a, const Use& b) { return a.weight < b.weight; };
  // Large groups use so many of the links that counting is quicker than comparing.
  if (uses_.size() * 16 < capacities_.links()) {
    std::sort(uses_.begin(), uses_.end(),
              [&](const Use& a, const Use& b) { return a.link != b.link ? a.link < b.link : lighter(a, b); });
    return;
  }
  place_.assign(capacities_.links() + 1, 0);
  for (const Use& use : uses_) ++place_[std::size_t(use.link) + 1];
  for (std::size_t l = 0; l < capacities_.links(); ++l) place_[l + 1] += place_[l];
  ordered_.resize(uses_.size());
  for (const Use& use : uses_) ordered_[std::size_t(place_[std::size_t(use.link)]++)] = use;
  uses_.swap(ordered_);
  for (auto first = uses_.begin(), end = first; first != uses_.end(); first = end) {
    end = std::find_if(first, uses_.end(), [&](const Use& use) { return use.link != first->link; });
    if (end - first > 1) std::sort(first, end, lighter);
  }
}

Path Paths::merge(const Traffic& traffic, std::span<const Member> members, const OperationCost& cost,
                  const Pattern& pattern) {
  Path path;
  uses_.clear();
  router_.lead(traffic, members, beside_[pattern], uses_, latency_);
  double largest = 0, latencies = 0;
  for (const Flow& flow : traffic.flows) largest = std::max(largest, flow.bytes);
  for (const double latency : latency_) latencies += latency;
  order_uses();
  std::size_t links = 0;
  for (std::size_t u = 0; u < uses_.size(); ++u) links += u == 0 || uses_[u].link != uses_[u - 1].link;
  path.uses.reserve(links);
  for (const Use& use : uses_) {
    if (path.uses.empty() || path.uses.back().link != use.link) path.uses.push_back({use.link, 0});
    path.uses.back().weight += use.weight / (largest * cost.efficiency);
  }
  path.share = largest;
  path.alone = capacities_.alone(path);
  path.latency = cost.start.value + traffic.steps * cost.step.value;
  for (const int flow : traffic.critical) path.latency += latency_[std::size_t(flow)];
  if (traffic.critical.empty() && !traffic.flows.empty())
    path.latency += traffic.steps * latencies / double(traffic.flows.size());
  return path;
}

void Paths::find_members(std::span<const std::int32_t> ranks) {
  members_.clear();
  for (const std::int32_t rank : ranks) {
    const int device = placement_[std::size_t(rank)];
    members_.push_back(
        {device, machine_.node_of(device), machine_.nics_per_node > 0 ? machine_.nic_of(device) : 0});
  }
}

std::vector<Choice> Paths::choices(OperationKind kind, std::span<const std::int32_t> ranks, double bytes) {
  find_members(ranks);
  return selection_.choices(kind, members_, bytes);
}

Path Paths::collective(OperationKind kind, std::span<const std::int32_t> ranks, const Choice& choice,
                       std::int32_t job) {
  find_members(ranks);
  const Collective& algorithm = *choice.algorithm;
  DLNB_REQUIRE(algorithm.handles(kind), "a chosen algorithm handles the collective");
  OperationCost cost = machine_.software.cost_of(name_of(kind));
  cost.efficiency *= choice.bandwidth;
  if (choice.cost != nullptr) {
    const GroupShape shape = shape_of(members_);
    cost.start = {Selection::latency(*choice.cost, algorithm.steps(kind, shape), shape)};
    cost.step = {0};
  }
  const Traffic traffic = algorithm.traffic(kind, members_, 1);
  const std::int32_t apart = ranks.size() > 1 ? ranks[1] - ranks[0] : 0;
  Path path = merge(traffic, members_, cost,
                    {job, kind, choice.algorithm, choice.cost, std::int32_t(ranks.size()), apart});
  if (path.share > 0) path.filling = traffic.filling * path.share / path.alone;
  path.piece = double(machine_.software.piece.value);
  path.portion = 1 / machine_.software.least_pieces;
  return path;
}

Path Paths::message(std::int32_t from, std::int32_t to, std::int32_t job) {
  const std::int32_t ends[] = {from, to};
  find_members(ends);
  OperationCost cost = machine_.software.cost_of("message");
  if (const TuningCost* tuned = machine_.software.tuned_cost("message", Protocol::simple)) {
    const bool inside = members_[0].node == members_[1].node;
    cost.start = tuned->start + (inside ? tuned->node_step : tuned->network_step);
    cost.efficiency *= tuned->bandwidth.at(inside ? 1 : 2);
  }
  return merge({{{0, 1, 1.0}}, 1}, members_, cost,
               {job, OperationKind::send, nullptr, nullptr, 2, to - from});
}

}  // namespace dlnb::sim
