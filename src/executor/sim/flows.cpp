// SPDX-License-Identifier: Apache-2.0
// Fluid activities on links.
//   Σ over activities of weight · rate ≤ capacity · efficiency on every link; completion at remaining / rate
// A link whose users could not fill it even at their highest rates cannot limit anybody beyond that: it neither enters
// a system nor connects activities. This changes no rate (to the tolerance below) and keeps systems small. It is asked
// twice: of all that will ever use a link, before anything flows; and of those that use it now ("hot").
#include "executor/sim/flows.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <dlnb/error.hpp>

namespace dlnb::sim {
namespace {

constexpr double tolerance = 1e-9;

/// What all activities together could ask of a link.
struct Asked {
  double demand = 0;
  double own = 0;  ///< of it, by `activity`
  std::int32_t activity = -1;
  std::int32_t users = 0;
};

std::vector<Asked> asked_of_links(std::size_t links, std::span<const Path> paths,
                                  std::span<const std::int32_t> first_path) {
  std::vector<Asked> asked(links);
  for (std::size_t a = 0; a + 1 < first_path.size(); ++a)
    for (std::int32_t p = first_path[a]; p < first_path[a + 1]; ++p)
      for (const Use& use : paths[std::size_t(p)].uses) {
        Asked& link = asked[std::size_t(use.link)];
        if (link.activity != std::int32_t(a)) {
          link.activity = std::int32_t(a);
          link.own = 0;
          ++link.users;
        }
        // It flows along one of its paths at a time: the one that asks for most.
        const double more = std::max(0.0, use.weight * paths[std::size_t(p)].alone - link.own);
        link.own += more;
        link.demand += more;
      }
  return asked;
}

}  // namespace

Capacities::Capacities(const Machine& machine) : capacity_(std::size_t(machine.links())) {
  for (std::size_t l = 0; l < capacity_.size(); ++l)
    capacity_[l] = machine.link(LinkIndex(l)).capacity.value *
                   machine.software.efficiency_of(machine.link(LinkIndex(l)).link_class);
}

double Capacities::alone(const Path& path) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const Use& use : path.uses) rate = std::min(rate, of(use.link) / use.weight);
  return rate;
}

Flows::Flows(const Capacities& capacities, const Network& network, std::span<const Path> paths,
             std::span<const std::int32_t> first_path)
    : network_(network), deadlines_(first_path.size() - 1), activities_(first_path.size() - 1) {
  const std::vector<Asked> asked = asked_of_links(capacities.links(), paths, first_path);
  std::vector<std::int32_t> number(asked.size(), -1);
  std::int32_t users = 0;
  for (std::size_t l = 0; l < asked.size(); ++l) {
    const double capacity = capacities.of(LinkIndex(l));
    if (asked[l].users < 2 || asked[l].demand <= capacity * (1 + tolerance)) continue;
    number[l] = std::int32_t(links_.size());
    links_.push_back({.capacity = capacity, .first_user = users});
    users += asked[l].users;
  }
  users_.resize(std::size_t(users));
  for (const Path& path : paths) {
    DLNB_REQUIRE(path.alone > 0, "a route leads over links with capacity");
    Way way{.first = std::int32_t(contended_.size()), .alone = path.alone};
    for (const Use& use : path.uses)
      if (number[std::size_t(use.link)] >= 0)
        contended_.push_back({number[std::size_t(use.link)], 0, use.weight});
    way.count = std::int32_t(contended_.size()) - way.first;
    ways_.push_back(way);
  }
}

bool Flows::can_be_full(const LinkState& link) {
  return link.users > 1 && link.demand > link.capacity * (1 + tolerance);
}

void Flows::swap_uses(std::int32_t a, std::int32_t b) {
  if (a == b) return;
  Contended &one = contended_[std::size_t(a)], &other = contended_[std::size_t(b)];
  std::swap(one, other);
  for (const std::int32_t use : {a, b}) {
    const Contended& moved = contended_[std::size_t(use)];
    users_[std::size_t(links_[std::size_t(moved.link)].first_user + moved.place)].use = use;
  }
}

void Flows::heat(LinkState& link) {
  link.hot = true;
  for (const User& user : users_of(link)) {
    Activity& a = activities_[std::size_t(user.activity)];
    swap_uses(user.use, ways_[std::size_t(a.way)].first + a.hot++);
  }
}

void Flows::cool(LinkState& link) {
  link.hot = false;
  link.full = 0;
  for (const User& user : users_of(link)) {
    Activity& a = activities_[std::size_t(user.activity)];
    swap_uses(user.use, ways_[std::size_t(a.way)].first + --a.hot);
  }
}

void Flows::begin(std::int32_t activity, std::int32_t path, double bytes, double now) {
  Activity& a = activities_[std::size_t(activity)];
  DLNB_REQUIRE(a.way < 0, "an activity flows once at a time");
  const Way& way = ways_[std::size_t(path)];
  a = {.way = path, .remaining = bytes, .since = now, .visited = a.visited};
  if (way.count == 0) {
    a.rate = way.alone;
    deadlines_.set(activity, now + bytes / way.alone);
    return;
  }
  // A use of a hot link moves to the front, and another, of a link that was looked at before, to where it was.
  for (std::int32_t u = way.first; u < way.first + way.count; ++u) {
    Contended& use = contended_[std::size_t(u)];
    LinkState& link = links_[std::size_t(use.link)];
    use.place = link.users++;
    users_[std::size_t(link.first_user + use.place)] = {activity, u};
    link.demand += use.weight * way.alone;
    if (link.hot) swap_uses(u, way.first + a.hot++);
    else if (can_be_full(link)) heat(link);
  }
  if (a.hot == 0) set_rate(activity, way.alone, now);
  else begun_.push_back(activity);
}

void Flows::finish(std::int32_t activity) {
  Activity& a = activities_[std::size_t(activity)];
  deadlines_.remove(activity);
  const Way& way = ways_[std::size_t(a.way)];
  a.hot = 0;
  for (std::int32_t u = way.first; u < way.first + way.count; ++u) {
    const Contended use = contended_[std::size_t(u)];
    LinkState& link = links_[std::size_t(use.link)];
    const User moved = users_[std::size_t(link.first_user + --link.users)];
    users_[std::size_t(link.first_user + use.place)] = moved;
    contended_[std::size_t(moved.use)].place = use.place;
    // An empty link asks for nothing: rounding does not add up over a run.
    link.demand = link.users == 0 ? 0 : link.demand - use.weight * way.alone;
    if (!link.hot) continue;
    // Only who shared a full link can be faster now.
    if (link.full != 0) touched_.push_back(use.link);
    if (!can_be_full(link)) cool(link);
  }
  a.way = -1;
  a.rate = 0;
}

void Flows::settle(double now) {
  if (begun_.empty() && touched_.empty()) return;
  if (++stamp_ == 0) {  // stamps began anew
    for (LinkState& link : links_) link.visited = 0;
    for (Activity& a : activities_) a.visited = 0;
    stamp_ = 1;
  }
  for (const std::int32_t activity : begun_)
    if (const Activity& a = activities_[std::size_t(activity)]; a.way >= 0 && a.visited != stamp_)
      solve_connected(activity, now);
  for (const std::int32_t link : touched_)
    for (const User& user : users_of(links_[std::size_t(link)]))
      if (activities_[std::size_t(user.activity)].visited != stamp_) solve_connected(user.activity, now);
  begun_.clear();
  touched_.clear();
}

void Flows::solve_connected(std::int32_t seed, double now) {
  members_.assign(1, seed);
  first_.assign(1, 0);
  uses_.clear(), system_links_.clear(), capacity_.clear(), limit_.clear(), full_.clear();
  activities_[std::size_t(seed)].visited = stamp_;
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const Activity& a = activities_[std::size_t(members_[m])];
    const Way& way = ways_[std::size_t(a.way)];
    for (std::int32_t u = way.first; u < way.first + a.hot; ++u) {
      const Contended& use = contended_[std::size_t(u)];
      LinkState& link = links_[std::size_t(use.link)];
      if (link.visited != stamp_) {
        link.visited = stamp_;
        link.local = std::int32_t(capacity_.size());
        system_links_.push_back(use.link);
        capacity_.push_back(link.capacity);
        full_.push_back(link.full);
        for (const User& user : users_of(link)) {
          Activity& other = activities_[std::size_t(user.activity)];
          if (other.visited == stamp_) continue;
          other.visited = stamp_;
          members_.push_back(user.activity);
        }
      }
      uses_.push_back({link.local, use.weight});
    }
    first_.push_back(std::int32_t(uses_.size()));
    limit_.push_back(way.alone);
  }
  if (members_.size() == 1) return set_rate(seed, limit_.front(), now);
  rates_.assign(members_.size(), 0);
  network_.solve({first_, uses_, capacity_, limit_}, rates_, full_);
  for (std::size_t l = 0; l < system_links_.size(); ++l)
    links_[std::size_t(system_links_[l])].full = full_[l];
  for (std::size_t m = 0; m < members_.size(); ++m) set_rate(members_[m], rates_[m], now);
}

void Flows::set_rate(std::int32_t activity, double rate, double now) {
  Activity& a = activities_[std::size_t(activity)];
  if (std::abs(rate - a.rate) <= 1e-12 * rate) return;
  DLNB_REQUIRE(rate > 0, "a network gave an activity no rate");
  a.remaining = std::max(0.0, a.remaining - a.rate * (now - a.since));
  a.since = now;
  a.rate = rate;
  deadlines_.set(activity, now + a.remaining / rate);
}

}  // namespace dlnb::sim
