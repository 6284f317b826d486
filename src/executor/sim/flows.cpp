// SPDX-License-Identifier: Apache-2.0
// Fluid activities on links.
//   Σ over activities of weight · rate ≤ capacity · efficiency on every link; completion at remaining / rate
// Three sets of links, each in the one before:
//   contended  all activities of the run together could fill it; no other is kept
//   hot        those flowing now could fill it; its load is known
//   full       it limits somebody; only these are in systems, and connect activities
// The rates that are fair on the full links are fair on all if they overload none: they are the best, in the order that
// fairness means, of more allocations than are allowed, and are allowed. So a change is solved among the activities it is
// connected to over full links; what that overloads is full, and it is solved again, until nothing is overloaded. Where a
// network needs every link, all are kept and in systems while anybody flows over them.
#include "executor/sim/flows.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include <dlnb/error.hpp>

namespace dlnb::sim {
namespace {

/// Of a link's capacity: what may be missing where it could be full, and what may be too much where it is not.
constexpr double tolerance = 1e-9, overload = 1e-11;

/// What all activities together could ask of a link.
struct Asked {
  double demand = 0;
  double own = 0;  ///< of it, by `activity`
  std::int32_t activity = -1;
  std::int32_t users = 0;

  bool could_fill(double capacity) const { return demand > capacity * (1 + tolerance); }
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

Capacities::Capacities(const Machine& machine) {
  capacity_.reserve(std::size_t(machine.links()));
  class_.reserve(std::size_t(machine.links()));
  const auto add = [&](const std::shared_ptr<const Fabric>& fabric) {
    if (!fabric) return;
    for (const Link& link : fabric->links()) {
      capacity_.push_back(link.capacity.value * machine.software.efficiency_of(link.link_class));
      class_.push_back(link.link_class);
    }
  };
  for (int node = 0; node < machine.nodes; ++node) add(machine.node_fabric);
  add(machine.network);
}

double Capacities::alone(const Path& path) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const Use& use : path.uses) rate = std::min(rate, of(use.link) / use.weight);
  return rate;
}

std::vector<bool> could_be_full(const Capacities& capacities, std::span<const Path> paths,
                                std::span<const std::int32_t> first_path) {
  const std::vector<Asked> asked = asked_of_links(capacities.links(), paths, first_path);
  std::vector<bool> could(asked.size());
  for (std::size_t l = 0; l < asked.size(); ++l) could[l] = asked[l].could_fill(capacities.of(LinkIndex(l)));
  return could;
}

Flows::Flows(const Capacities& capacities, const Network& network, std::span<const Path> paths,
             std::span<const std::int32_t> first_path, const Shared& shared)
    : network_(network),
      shared_(shared),
      deadlines_(first_path.size() - 1),
      activities_(first_path.size() - 1) {
  const std::vector<Asked> asked = asked_of_links(capacities.links(), paths, first_path);
  std::vector<std::int32_t> number(asked.size(), -1);
  std::int32_t users = 0;
  for (std::size_t l = 0; l < asked.size(); ++l) {
    const double capacity = capacities.of(LinkIndex(l));
    if (network.every_link ? asked[l].users == 0 : !asked[l].could_fill(capacity)) continue;
    number[l] = std::int32_t(links_.size());
    links_.push_back({.capacity = capacity, .first_user = users, .link = LinkIndex(l)});
    users += asked[l].users;
  }
  users_.resize(std::size_t(users));
  for (const Path& path : paths) {
    DLNB_REQUIRE(path.alone > 0, "a route leads over links with capacity");
    Way way{.first = std::int32_t(contended_.size()), .alone = path.alone};
    for (std::size_t u = 0; u < path.uses.size(); ++u)
      if (const std::int32_t link = number[std::size_t(path.uses[u].link)]; link >= 0)
        contended_.push_back({link, 0, (shared.unlike.empty() ? 0u : shared.unlike[ways_.size()][u]) & 1u,
                              path.uses[u].weight});
    way.count = std::int32_t(contended_.size()) - way.first;
    ways_.push_back(way);
  }
}

/// The most that would be asked of a link, over its capacity, if an activity took this path too.
double Flows::asked(std::int32_t path) const {
  const Way& way = ways_[std::size_t(path)];
  double most = 0;
  for (std::int32_t u = way.first; u < way.first + way.count; ++u) {
    const Contended& use = contended_[std::size_t(u)];
    const LinkState& link = links_[std::size_t(use.link)];
    most = std::max(most, (link.demand + use.weight * way.alone) / link.capacity);
  }
  return most;
}

std::int32_t Flows::less_asked(std::int32_t path, std::int32_t around) const {
  const double here = asked(path);
  return here > 1 + tolerance && asked(around) < here ? around : path;
}

bool Flows::can_be_full(const LinkState& link) const {
  return network_.every_link ? link.users > 0 : link.demand > link.capacity * (1 + tolerance);
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
  link.load = 0;
  for (const User& user : users_of(link)) {
    Activity& a = activities_[std::size_t(user.activity)];
    link.load += contended_[std::size_t(user.use)].weight * a.rate;
    swap_uses(user.use, first_use(a) + a.hot++);
  }
}

void Flows::cool(LinkState& link, double now) {
  if (link.full) unfill(link, now);
  link.hot = false;
  for (const User& user : users_of(link)) {
    Activity& a = activities_[std::size_t(user.activity)];
    swap_uses(user.use, first_use(a) + --a.hot);
  }
}

void Flows::fill(LinkState& link, double now) {
  link.full = true;
  if (!network_.every_link) set_limits(link, true, now);
  for (const User& user : users_of(link)) {
    Activity& a = activities_[std::size_t(user.activity)];
    swap_uses(user.use, first_use(a) + a.full++);
  }
}

void Flows::unfill(LinkState& link, double now) {
  link.full = false;
  set_limits(link, false, now);
  for (const User& user : users_of(link)) {
    Activity& a = activities_[std::size_t(user.activity)];
    swap_uses(user.use, first_use(a) + --a.full);
  }
}

void Flows::set_limits(LinkState& link, bool limits, double now) {
  if (limits == link.limits) return;
  if (limits) link.full_since = now;
  else link.full_for += now - link.full_since;
  link.limits = limits;
}

void Flows::begin(std::int32_t activity, std::int32_t path, double bytes, double now, const Flowing& what) {
  Activity& a = activities_[std::size_t(activity)];
  DLNB_REQUIRE(a.way < 0, "an activity flows once at a time");
  const Way& way = ways_[std::size_t(path)];
  a = {.way = path, .remaining = bytes, .since = now, .stamp = a.stamp, .what = what};
  // A use that moves to the front changes places with one of a link that was looked at before.
  for (std::int32_t u = way.first; u < way.first + way.count; ++u) {
    Contended& use = contended_[std::size_t(u)];
    LinkState& link = links_[std::size_t(use.link)];
    use.place = std::uint32_t(link.users++) & 0x7fffffffu;
    users_[std::size_t(link.first_user + use.place)] = {activity, u};
    link.demand += use.weight * way.alone;
    if (!link.hot) {
      if (can_be_full(link)) heat(link);
      if (network_.every_link) fill(link, now);
      continue;
    }
    const std::int32_t hot = way.first + a.hot++;
    swap_uses(u, hot);
    if (link.full) swap_uses(hot, way.first + a.full++);
  }
  if (a.hot > 0) return begun_.push_back(activity);
  a.rate = way.alone;
  deadlines_.set(activity, now + bytes / way.alone);
}

void Flows::finish(std::int32_t activity, double now) {
  Activity& a = activities_[std::size_t(activity)];
  account(a, now);
  deadlines_.remove(activity);
  const Way& way = ways_[std::size_t(a.way)];
  for (std::int32_t u = way.first; u < way.first + way.count; ++u) {
    const Contended use = contended_[std::size_t(u)];
    LinkState& link = links_[std::size_t(use.link)];
    const User moved = users_[std::size_t(link.first_user + --link.users)];
    users_[std::size_t(link.first_user + use.place)] = moved;
    contended_[std::size_t(moved.use)].place = use.place;
    // An empty link asks for nothing: rounding does not add up over a run.
    link.demand = link.users == 0 ? 0 : link.demand - use.weight * way.alone;
    if (!link.hot) continue;
    link.load -= use.weight * a.rate;
    // Only whom a full link limits can be faster now.
    if (link.full) touched_.push_back(use.link);
    if (!can_be_full(link)) cool(link, now);
  }
  a.way = -1;
  a.rate = 0;
}

void Flows::look_at(std::int32_t activity) {
  Activity& a = activities_[std::size_t(activity)];
  if (a.way < 0 || a.stamp == settles_) return;
  a.stamp = settles_;
  a.changed = false;
  members_.push_back(activity);
}

void Flows::settle(double now) {
  if (begun_.empty() && touched_.empty()) return;
  ++settles_;
  members_.clear();
  for (const std::int32_t activity : begun_) look_at(activity);
  for (const std::int32_t link : touched_)
    for (const User& user : users_of(links_[std::size_t(link)])) look_at(user.activity);
  begun_.clear();
  touched_.clear();
  do {
    solve();
    for (std::size_t m = 0; m < members_.size(); ++m)
      change_rate(activities_[std::size_t(members_[m])], rates_[m], now);
  } while (fill_overloaded(now));
  for (const std::int32_t l : system_links_) {
    LinkState& link = links_[std::size_t(l)];
    const bool limits = link.load >= link.capacity * (1 - tolerance);
    if (network_.every_link) set_limits(link, limits, now);
    else if (!limits) unfill(link, now);
  }
  for (const std::int32_t member : members_)
    if (Activity& a = activities_[std::size_t(member)]; a.changed) {
      deadlines_.set(member, now + a.remaining / a.rate);
      find_limit(a, member);
    }
}

/// Among the members and all they are connected to over full links, who become members.
void Flows::solve() {
  ++systems_;
  first_.assign(1, 0);
  uses_.clear(), system_links_.clear(), capacity_.clear(), limit_.clear();
  for (std::size_t m = 0; m < members_.size(); ++m) {
    const Activity& a = activities_[std::size_t(members_[m])];
    const Way& way = ways_[std::size_t(a.way)];
    for (std::int32_t u = way.first; u < way.first + a.full; ++u) {
      const Contended& use = contended_[std::size_t(u)];
      LinkState& link = links_[std::size_t(use.link)];
      if (use.unlike) torn_.push_back({members_[m], link.link});
      if (link.stamp != systems_) {
        link.stamp = systems_;
        link.local = std::int32_t(capacity_.size());
        system_links_.push_back(use.link);
        capacity_.push_back(link.capacity);
        for (const User& user : users_of(link)) look_at(user.activity);
      }
      uses_.push_back({link.local, use.weight});
    }
    first_.push_back(std::int32_t(uses_.size()));
    limit_.push_back(way.alone);
  }
  rates_.assign(members_.size(), 0);
  network_.solve({first_, uses_, capacity_, limit_}, rates_);
}

void Flows::change_rate(Activity& a, double rate, double now) {
  const double change = rate - a.rate;
  if (std::abs(change) <= 1e-12 * rate) return;
  DLNB_REQUIRE(rate > 0, "a network gave an activity no rate");
  account(a, now);
  a.limit = -1;
  a.remaining = std::max(0.0, a.remaining - a.rate * (now - a.since));
  a.since = now;
  a.rate = rate;
  a.changed = true;
  const std::int32_t first = first_use(a);
  for (std::int32_t u = first; u < first + a.hot; ++u) {
    const Contended& use = contended_[std::size_t(u)];
    LinkState& link = links_[std::size_t(use.link)];
    link.load += use.weight * change;
    if (!link.full && link.load > link.capacity * (1 + overload)) overloaded_.push_back(use.link);
  }
}

/// Makes what is overloaded full, and its users members; false where there is nothing.
bool Flows::fill_overloaded(double now) {
  bool any = false;
  for (const std::int32_t l : overloaded_) {
    LinkState& link = links_[std::size_t(l)];
    if (link.full || link.load <= link.capacity * (1 + overload)) continue;
    any = true;
    fill(link, now);
    for (const User& user : users_of(link)) look_at(user.activity);
  }
  overloaded_.clear();
  return any;
}

/// Whom a link limits is one of the fastest on it, or of those that take most of it; of several such links the lowest.
void Flows::find_limit(Activity& a, std::int32_t activity) {
  const Way& way = ways_[std::size_t(a.way)];
  if (a.rate >= way.alone * (1 - tolerance)) return;
  a.limit = -1;
  for (std::int32_t u = way.first; u < way.first + a.full; ++u) {
    const LinkState& link = links_[std::size_t(contended_[std::size_t(u)].link)];
    if (!link.limits || (a.limit >= 0 && a.limit < link.link)) continue;
    double most = 0;
    std::int32_t by = a.what.job;
    bool is_fastest = true;
    const double own = network_.every_link ? contended_[std::size_t(u)].weight * a.rate : a.rate;
    for (const User& user : users_of(link)) {
      const Activity& other = activities_[std::size_t(user.activity)];
      const double taken = contended_[std::size_t(user.use)].weight * other.rate;
      is_fastest = is_fastest && (network_.every_link ? taken : other.rate) <= own * (1 + tolerance);
      if (user.activity == activity || other.what.job == a.what.job || taken <= most) continue;
      most = taken, by = other.what.job;
    }
    if (!is_fastest) continue;
    a.limit = link.link;
    a.by = by;
  }
}

/// Seconds lost since its rate was set: those that alone it would not have needed for what it moved.
void Flows::account(const Activity& a, double now) {
  if (a.limit < 0 || now <= a.since) return;
  const auto activity = std::size_t(&a - activities_.data());
  const bool is_several = !shared_.members.empty() && shared_.members[activity] > 1;
  slowed_[{a.limit, a.by, a.what, is_several ? a.way : -1}] +=
      (now - a.since) * (1 - a.rate / ways_[std::size_t(a.way)].alone);
}

std::vector<std::pair<LinkIndex, double>> Flows::full_times(double now) const {
  std::vector<std::pair<LinkIndex, double>> times;
  for (const LinkState& link : links_)
    times.emplace_back(link.link, link.full_for + (link.limits ? now - link.full_since : 0));
  return times;
}

}  // namespace dlnb::sim
