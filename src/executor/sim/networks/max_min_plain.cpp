// SPDX-License-Identifier: Apache-2.0
// Max–min fairness by progressive filling: the rates of all activities grow together; where a link is full,
// the activities that cross it stay at what they have, and the others grow on.
//   level of a link = (capacity − Σ weight·rate of those that stay) / Σ weight of those that grow
// An activity's limit is a link of its own. Ends after at most links + activities rounds, each of which looks
// at all of them: O((links + activities)²). Kept short to be read and to be the oracle of anything faster.
// Source: D. Bertsekas, R. Gallager, "Data Networks", 2nd ed., 1992, section 6.5.2.
#include <algorithm>
#include <limits>
#include <vector>

#include "executor/sim/network.hpp"

namespace dlnb::networks {
namespace {

/// Levels this close together are one level; otherwise rounding would tell equal activities apart.
constexpr double same_level = 1 + 1e-12;

struct Share {
  double free;     ///< capacity that no staying activity uses
  double growing;  ///< weight of the activities that still grow
  int activities;  ///< how many those are

  double level() const { return activities > 0 ? free / growing : std::numeric_limits<double>::infinity(); }
};

void solve(const System& system, std::span<double> rates) {
  std::vector<Share> links;
  for (const double capacity : system.capacity) links.push_back({capacity, 0, 0});
  for (const Use& use : system.uses) {
    links[std::size_t(use.link)].growing += use.weight;
    links[std::size_t(use.link)].activities += 1;
  }
  std::vector<bool> stays(system.activities(), false);

  double level = 0;
  for (std::size_t growing = system.activities(); growing > 0;) {
    double next = std::numeric_limits<double>::infinity();
    for (const Share& link : links) next = std::min(next, link.level());
    for (std::size_t a = 0; a < stays.size(); ++a)
      if (!stays[a]) next = std::min(next, system.limit[a]);
    level = std::max(level, next);  // it never falls, but for rounding

    // Decided before any of them stays: those that stay free nothing for each other at this level.
    std::vector<std::size_t> full;
    for (std::size_t a = 0; a < stays.size(); ++a) {
      if (stays[a]) continue;
      const auto uses = system.uses_of(a);
      const bool stuck = std::ranges::any_of(
          uses, [&](const Use& use) { return links[std::size_t(use.link)].level() <= level * same_level; });
      if (stuck || system.limit[a] <= level * same_level) full.push_back(a);
    }
    for (const std::size_t a : full) {
      rates[a] = level;
      stays[a] = true;
      for (const Use& use : system.uses_of(a)) {
        Share& link = links[std::size_t(use.link)];
        link.free = std::max(0.0, link.free - use.weight * level);
        link.growing -= use.weight;
        link.activities -= 1;
      }
    }
    growing -= full.size();
  }
}

}  // namespace

extern constinit const Network max_min_plain{
    .name = "max_min_plain",
    .summary = "max-min fairness by progressive filling, as in the textbook",
    .solve = solve,
};

}  // namespace dlnb::networks
