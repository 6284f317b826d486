// SPDX-License-Identifier: Apache-2.0
// Max–min fairness, solved over few links. The rates that are fair on some of the links are fair on all of them if
// they overload none: they are the largest in lexicographic order among more allocations than are allowed, and are
// allowed. So:
//   1  fill over the links that were full last time
//   2  add the links that this overloads, and fill again, until there is none
// What is full changes little from one change to the next, and there are at most as many bottlenecks as activities.
// Filling takes the lowest level from a heap; a level only rises, so that an entry is looked at again when it comes up.
//   O(uses) per round for the loads, O(uses of the few links · log) for filling; mostly two rounds
// Source of the procedure that is filled by: D. Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section 6.5.2.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "executor/sim/network.hpp"

namespace dlnb::networks {
namespace {

/// Levels this close together are one level; otherwise rounding would tell equal activities apart.
constexpr double same_level = 1 + 1e-12;
/// More than this of its capacity overloads a link.
constexpr double overload = 1 + 1e-11;

struct Constraint {
  double free = 0;     ///< capacity that no staying activity uses
  double growing = 0;  ///< weight of the activities that still grow
  std::int32_t activities = 0;
  std::int32_t first_user = 0;

  double level() const { return activities > 0 ? free / growing : std::numeric_limits<double>::infinity(); }
};

struct Level {
  double at;
  std::int32_t constraint;
};
bool later(const Level& a, const Level& b) {
  return a.at != b.at ? a.at > b.at : a.constraint > b.constraint;
}

/// Memory of one solution, kept for the next.
class Filling {
 public:
  void solve(const System& system, std::span<double> rates, std::span<std::uint8_t> full) {
    const std::size_t links = system.capacity.size();
    constraint_of_.assign(links, -1);
    link_of_.clear();
    for (std::size_t l = 0; l < links; ++l)
      if (full[l] != 0) constrain(l);
    by_limit_.resize(system.activities());
    std::iota(by_limit_.begin(), by_limit_.end(), 0);
    std::ranges::sort(by_limit_, [&](std::int32_t a, std::int32_t b) {
      return system.limit[std::size_t(a)] != system.limit[std::size_t(b)]
                 ? system.limit[std::size_t(a)] < system.limit[std::size_t(b)]
                 : a < b;
    });
    do fill(system, rates);
    while (add_overloaded(system, rates));
    for (std::size_t l = 0; l < links; ++l) full[l] = load_[l] >= system.capacity[l] * (1 - full_tolerance);
  }

 private:
  void constrain(std::size_t link) {
    constraint_of_[link] = std::int32_t(link_of_.size());
    link_of_.push_back(std::int32_t(link));
  }

  bool add_overloaded(const System& system, std::span<const double> rates) {
    load_.assign(system.capacity.size(), 0);
    for (std::size_t a = 0; a < rates.size(); ++a)
      for (const Use& use : system.uses_of(a)) load_[std::size_t(use.link)] += use.weight * rates[a];
    const std::size_t before = link_of_.size();
    for (std::size_t l = 0; l < load_.size(); ++l)
      if (constraint_of_[l] < 0 && load_[l] > system.capacity[l] * overload) constrain(l);
    return link_of_.size() > before;
  }

  /// The uses of the constraints, by activity and by constraint.
  void gather(const System& system) {
    constraints_.assign(link_of_.size(), {});
    first_.assign(1, 0);
    uses_.clear();
    for (std::size_t a = 0; a < system.activities(); ++a) {
      for (const Use& use : system.uses_of(a)) {
        const std::int32_t c = constraint_of_[std::size_t(use.link)];
        if (c < 0) continue;
        uses_.push_back({c, use.weight});
        constraints_[std::size_t(c)].growing += use.weight;
        constraints_[std::size_t(c)].activities += 1;
      }
      first_.push_back(std::int32_t(uses_.size()));
    }
    std::int32_t next = 0;
    for (std::size_t c = 0; c < constraints_.size(); ++c) {
      constraints_[c].free = system.capacity[std::size_t(link_of_[c])];
      constraints_[c].first_user = next;
      next += constraints_[c].activities;
    }
    users_.resize(uses_.size());
    filled_.assign(constraints_.size(), 0);
    for (std::size_t a = 0; a < system.activities(); ++a)
      for (std::int32_t u = first_[a]; u < first_[a + 1]; ++u) {
        const std::size_t c = std::size_t(uses_[std::size_t(u)].link);
        users_[std::size_t(constraints_[c].first_user + filled_[c]++)] = std::int32_t(a);
      }
  }

  void stop(std::size_t activity, double level, std::span<double> rates) {
    if (stays_[activity] != 0) return;
    stays_[activity] = 1;
    rates[activity] = level;
    stopped_.push_back(std::int32_t(activity));
  }

  void fill(const System& system, std::span<double> rates) {
    gather(system);
    stays_.assign(system.activities(), 0);
    heap_.clear();
    for (std::size_t c = 0; c < constraints_.size(); ++c)
      heap_.push_back({constraints_[c].level(), std::int32_t(c)});
    std::make_heap(heap_.begin(), heap_.end(), later);

    double level = 0;
    std::size_t slowest = 0;  // in by_limit_
    for (std::size_t growing = system.activities(); growing > 0;) {
      settle_top();
      while (stays_[std::size_t(by_limit_[slowest])] != 0) ++slowest;
      const double limit = system.limit[std::size_t(by_limit_[slowest])];
      // It never falls, but for rounding.
      level = std::max(level, heap_.empty() ? limit : std::min(limit, heap_.front().at));

      // Decided before any of them stays: those that stay free nothing for each other at this level.
      stopped_.clear();
      for (std::size_t i = slowest;
           i < by_limit_.size() && system.limit[std::size_t(by_limit_[i])] <= level * same_level; ++i)
        stop(std::size_t(by_limit_[i]), level, rates);
      while (!heap_.empty() && heap_.front().at <= level * same_level) {
        const Constraint& constraint = constraints_[std::size_t(take_top())];
        const std::size_t users = filled_[std::size_t(&constraint - constraints_.data())];
        for (std::size_t u = 0; u < users; ++u)
          stop(std::size_t(users_[std::size_t(constraint.first_user) + u]), level, rates);
        settle_top();
      }
      for (const std::int32_t a : stopped_)
        for (std::int32_t u = first_[std::size_t(a)]; u < first_[std::size_t(a) + 1]; ++u) {
          const Use& use = uses_[std::size_t(u)];
          Constraint& constraint = constraints_[std::size_t(use.link)];
          constraint.free = std::max(0.0, constraint.free - use.weight * level);
          constraint.growing -= use.weight;
          constraint.activities -= 1;
        }
      growing -= stopped_.size();
    }
  }

  std::int32_t take_top() {
    const std::int32_t constraint = heap_.front().constraint;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    return constraint;
  }
  /// Brings an entry to the top whose level is the present one.
  void settle_top() {
    while (!heap_.empty()) {
      const Constraint& constraint = constraints_[std::size_t(heap_.front().constraint)];
      if (constraint.activities > 0 && constraint.level() <= heap_.front().at) return;
      const std::int32_t c = take_top();
      if (constraint.activities == 0) continue;
      heap_.push_back({constraint.level(), c});
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
  }

  std::vector<std::int32_t> constraint_of_, link_of_;  // by link; by constraint
  std::vector<std::int32_t> by_limit_;
  std::vector<double> load_;  // by link
  std::vector<Constraint> constraints_;
  std::vector<std::int32_t> first_;  // by activity, into uses_
  std::vector<Use> uses_;            // `link` is a constraint
  std::vector<std::int32_t> users_;  // by constraint, from its first_user
  std::vector<std::int32_t> filled_;
  std::vector<std::uint8_t> stays_;
  std::vector<std::int32_t> stopped_;
  std::vector<Level> heap_;
};

void solve(const System& system, std::span<double> rates, std::span<std::uint8_t> full) {
  static thread_local Filling filling;
  filling.solve(system, rates, full);
}

}  // namespace

extern constinit const Network max_min{
    .name = "max_min",
    .summary = "max-min fairness, solved over the links that are full",
    .solve = solve,
};

}  // namespace dlnb::networks
