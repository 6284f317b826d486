// SPDX-License-Identifier: Apache-2.0
// Fluid activities on links.
//   Σ over activities of weight · rate ≤ capacity · efficiency on every link; completion at remaining / rate
// A link whose users could not fill it even at their highest rates cannot limit anybody: it neither enters a
// system nor connects activities. This changes no rate (to the tolerance below) and keeps systems small.
#include "executor/sim/flows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <dlnb/error.hpp>

namespace dlnb::sim {
namespace {

constexpr double tolerance = 1e-9;

}  // namespace

Flows::Flows(const Machine& machine, const Network& network, std::size_t activities, Events& events)
    : network_(network), events_(events), links_(std::size_t(machine.links())), activities_(activities) {
  for (std::size_t l = 0; l < links_.size(); ++l)
    links_[l].capacity = machine.link(LinkIndex(l)).capacity.value * machine.software.efficiency;
}

double Flows::alone(const Path& path) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const Use& use : path.uses) rate = std::min(rate, capacity(use.link) / use.weight);
  return rate;
}

bool Flows::can_be_full(const LinkState& link) {
  return link.users.size() > 1 && link.demand > link.capacity * (1 + tolerance);
}

void Flows::begin(std::int32_t activity, Path& path, double bytes, double now) {
  Activity& a = activities_[std::size_t(activity)];
  DLNB_REQUIRE(a.path == nullptr, "an activity flows once at a time");
  if (path.uses.empty()) {  // from a device to itself
    events_.add(now, EventKind::moved, activity, ++a.version);
    return;
  }
  DLNB_REQUIRE(path.alone > 0, "a route leads over a link without capacity");
  a.path = &path;
  a.remaining = bytes;
  a.rate = 0;
  a.since = now;
  for (std::size_t i = 0; i < path.uses.size(); ++i) {
    LinkState& link = links_[std::size_t(path.uses[i].link)];
    path.position[i] = std::int32_t(link.users.size());
    link.users.push_back({activity, std::int32_t(i)});
    link.demand += path.uses[i].weight * path.alone;
  }
  begun_.push_back(activity);
}

void Flows::finish(std::int32_t activity) {
  Activity& a = activities_[std::size_t(activity)];
  if (a.path == nullptr) return;
  const Path& path = *a.path;
  for (std::size_t i = 0; i < path.uses.size(); ++i) {
    LinkState& link = links_[std::size_t(path.uses[i].link)];
    if (link.touched != stamp_ && can_be_full(link)) {
      link.touched = stamp_;
      touched_.push_back(path.uses[i].link);
    }
    const std::size_t place = std::size_t(path.position[i]);
    const User moved = link.users.back();
    link.users[place] = moved;
    activities_[std::size_t(moved.activity)].path->position[std::size_t(moved.use)] = std::int32_t(place);
    link.users.pop_back();
    // An empty link asks for nothing: rounding does not add up over a run.
    link.demand = link.users.empty() ? 0 : link.demand - path.uses[i].weight * path.alone;
  }
  a.path = nullptr;
  a.rate = 0;
  ++a.version;
}

void Flows::settle(double now) {
  if (begun_.empty() && touched_.empty()) return;
  for (const std::int32_t activity : begun_)
    if (const Activity& a = activities_[std::size_t(activity)]; a.path != nullptr && a.visited != stamp_)
      solve_connected(activity, now);
  for (const std::int32_t link : touched_)
    for (const User& user : links_[std::size_t(link)].users)
      if (activities_[std::size_t(user.activity)].visited != stamp_) solve_connected(user.activity, now);
  begun_.clear();
  touched_.clear();
  ++stamp_;
}

void Flows::solve_connected(std::int32_t seed, double now) {
  members_.assign(1, seed);
  first_.assign(1, 0);
  uses_.clear(), capacity_.clear(), limit_.clear();
  activities_[std::size_t(seed)].visited = stamp_;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const Path& path = *activities_[std::size_t(members_[m])].path;
    for (const Use& use : path.uses) {
      LinkState& link = links_[std::size_t(use.link)];
      if (!can_be_full(link)) continue;
      if (link.visited != stamp_) {
        link.visited = stamp_;
        link.local = std::int32_t(capacity_.size());
        capacity_.push_back(link.capacity);
        for (const User& user : link.users) {
          Activity& other = activities_[std::size_t(user.activity)];
          if (other.visited == stamp_) continue;
          other.visited = stamp_;
          members_.push_back(user.activity);
        }
      }
      uses_.push_back({link.local, use.weight});
    }
    first_.push_back(std::int32_t(uses_.size()));
    limit_.push_back(path.alone);
  }
  if (members_.size() == 1) return set_rate(seed, limit_.front(), now);
  rates_.assign(members_.size(), 0);
  network_.solve({first_, uses_, capacity_, limit_}, rates_);
  for (std::size_t m = 0; m < members_.size(); ++m) set_rate(members_[m], rates_[m], now);
}

void Flows::set_rate(std::int32_t activity, double rate, double now) {
  Activity& a = activities_[std::size_t(activity)];
  if (std::abs(rate - a.rate) <= 1e-12 * rate) return;
  DLNB_REQUIRE(rate > 0, "a network gave an activity no rate");
  a.remaining = std::max(0.0, a.remaining - a.rate * (now - a.since));
  a.since = now;
  a.rate = rate;
  events_.add(now + a.remaining / rate, EventKind::moved, activity, ++a.version);
}

}  // namespace dlnb::sim
