// SPDX-License-Identifier: Apache-2.0
// Max–min fairness by progressive filling, with the lowest level taken from a heap: when activities stop at a level, the
// levels of the other links they cross only rise, so that an entry is looked at again when it comes up.
//   O((uses + links + activities) · log)
// Source of the procedure: D. Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section 6.5.2.
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
struct Share {
  double free = 0;     ///< capacity that no staying activity uses
  double growing = 0;  ///< weight of the activities that still grow
  std::int32_t activities = 0;
  std::int32_t first_user = 0, users = 0;

  double level() const { return activities > 0 ? free / growing : std::numeric_limits<double>::infinity(); }
};

struct Level {
  double at;
  std::int32_t link;
};
bool later(const Level& a, const Level& b) { return a.at != b.at ? a.at > b.at : a.link > b.link; }

/// Memory of one solution, kept for the next.
class Filling {
 public:
  void solve(const System& system, std::span<double> rates) {
    gather(system);
    stays_.assign(system.activities(), 0);
    double level = 0;
    std::size_t lowest = 0;  // in by_limit_
    for (std::size_t growing = system.activities(); growing > 0;) {
      bring_lowest_up();
      while (stays_[std::size_t(by_limit_[lowest])] != 0) ++lowest;
      const double limit = system.limit[std::size_t(by_limit_[lowest])];
      // It never falls, but for rounding.
      level = std::max(level, heap_.empty() ? limit : std::min(limit, heap_.front().at));

      // Decided before any of them stays: those that stay free nothing for each other at this level.
      stopped_.clear();
      for (std::size_t i = lowest;
           i < by_limit_.size() && system.limit[std::size_t(by_limit_[i])] <= level * same_level; ++i)
        stop(by_limit_[i], level, rates);
      while (!heap_.empty() && heap_.front().at <= level * same_level) {
        const Share& link = links_[std::size_t(take_lowest())];
        for (std::int32_t u = link.first_user; u < link.first_user + link.users; ++u)
          stop(users_[std::size_t(u)], level, rates);
        bring_lowest_up();
      }
      for (const std::int32_t activity : stopped_)
        for (const Use& use : system.uses_of(std::size_t(activity))) {
          Share& link = links_[std::size_t(use.link)];
          link.free = std::max(0.0, link.free - use.weight * level);
          link.growing -= use.weight;
          link.activities -= 1;
        }
      growing -= stopped_.size();
    }
  }

 private:
  void gather(const System& system) {
    links_.assign(system.capacity.size(), {});
    for (const Use& use : system.uses) {
      links_[std::size_t(use.link)].growing += use.weight;
      links_[std::size_t(use.link)].activities += 1;
    }
    heap_.clear();
    std::int32_t next = 0;
    for (std::size_t l = 0; l < links_.size(); ++l) {
      links_[l].free = system.capacity[l];
      links_[l].first_user = next;
      next += links_[l].activities;
      heap_.push_back({links_[l].level(), std::int32_t(l)});
    }
    std::make_heap(heap_.begin(), heap_.end(), later);
    users_.resize(system.uses.size());
    for (std::size_t a = 0; a < system.activities(); ++a)
      for (const Use& use : system.uses_of(a)) {
        Share& link = links_[std::size_t(use.link)];
        users_[std::size_t(link.first_user + link.users++)] = std::int32_t(a);
      }
    by_limit_.resize(system.activities());
    std::iota(by_limit_.begin(), by_limit_.end(), 0);
    std::ranges::sort(by_limit_, [&](std::int32_t a, std::int32_t b) {
      const double one = system.limit[std::size_t(a)], other = system.limit[std::size_t(b)];
      return one != other ? one < other : a < b;
    });
  }

  void stop(std::int32_t activity, double level, std::span<double> rates) {
    if (stays_[std::size_t(activity)] != 0) return;
    stays_[std::size_t(activity)] = 1;
    rates[std::size_t(activity)] = level;
    stopped_.push_back(activity);
  }

  std::int32_t take_lowest() {
    const std::int32_t link = heap_.front().link;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    heap_.pop_back();
    return link;
  }
  /// Until the top of the heap has the level it is entered with.
  void bring_lowest_up() {
    while (!heap_.empty()) {
      const Share& link = links_[std::size_t(heap_.front().link)];
      if (link.activities > 0 && link.level() <= heap_.front().at) return;
      const std::int32_t index = take_lowest();
      if (link.activities == 0) continue;
      heap_.push_back({link.level(), index});
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
  }

  std::vector<Share> links_;
  std::vector<std::int32_t> users_;  // by link, from its first_user
  std::vector<std::int32_t> by_limit_;
  std::vector<std::uint8_t> stays_;
  std::vector<std::int32_t> stopped_;
  std::vector<Level> heap_;
};

void solve(const System& system, std::span<double> rates) {
  static thread_local Filling filling;
  filling.solve(system, rates);
}

}  // namespace

extern constinit const Network max_min{
    .name = "max_min",
    .summary = "max-min fairness by progressive filling, levels in a heap",
    .solve = solve,
};

}  // namespace dlnb::networks
