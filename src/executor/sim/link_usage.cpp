// SPDX-License-Identifier: Apache-2.0
// What was taken of the links:
//   utilisation = Σ over paths of weight · bytes of the reference flow / (capacity · simulated time)
// and what kept operations from the rate they have alone: a transfer at rate r instead of r₁ for a time t has lost
// t · (1 − r / r₁), on the full link that limits it, to the job that takes most of that link beside it.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include "executor/sim/engine.hpp"

namespace dlnb::sim {
namespace {

/// How many of the hottest links, and of what slowed a job, a report has.
constexpr std::size_t most_rows = 16;

}  // namespace

std::map<std::tuple<LinkIndex, std::int32_t, std::int32_t, OperationKind, Phase>, double> Engine::slowed(
    const PathTable& whole, std::span<const std::int32_t> part_of, std::span<const LinkIndex> link_of) const {
  std::map<std::tuple<LinkIndex, std::int32_t, std::int32_t, OperationKind, Phase>, double> on_links;
  // By name, and not as the hash has them: sums are the same every time.
  std::vector<std::pair<Slowed, double>> all(flows_.slowed().begin(), flows_.slowed().end());
  std::ranges::sort(all, {}, [](const auto& entry) {
    const Slowed& s = entry.first;
    return std::tuple(s.link, s.by, s.whom.job, s.whom.kind, s.whom.phase, s.path);
  });
  std::vector<std::vector<std::int32_t>> members;  // by activity
  for (const auto& [what, seconds] : all) {
    const auto add = [&](LinkIndex link) {
      on_links[{link, what.by, what.whom.job, what.whom.kind, what.whom.phase}] += seconds;
    };
    if (what.path < 0) {
      add(what.link);
      continue;
    }
    if (members.empty()) {
      members.resize(activities_.size());
      for (std::size_t a = 0; a < part_of.size(); ++a)
        members[std::size_t(part_of[a])].push_back(std::int32_t(a));
    }
    const auto after = std::ranges::upper_bound(table_.first_path, what.path);
    const auto activity = std::size_t(after - table_.first_path.begin() - 1);
    const auto path = std::size_t(what.path - table_.first_path[activity]);
    for (const std::int32_t member : members[activity]) {
      const auto& uses = whole.paths_of(std::size_t(member))[path].uses;
      const auto use =
          std::ranges::find_if(uses, [&](const Use& u) { return link_of[std::size_t(u.link)] == what.link; });
      if (use != uses.end()) add(use->link);
    }
  }
  return on_links;
}

std::vector<LinkReport> Engine::link_reports(const PathTable& whole, std::span<const std::int32_t> part_of,
                                             std::span<const LinkIndex> link_of) const {
  const double span = end_;
  std::vector<double> moved = moved_;
  // A job that repeats is cut off in the middle.
  for (std::size_t a = 0; a < activities_.size(); ++a) {
    const Activity& activity = activities_[a];
    if (!activity.busy) continue;
    if (activity.skipped_actions > 0) {
      add_stretch(std::int32_t(a), span, moved);
      continue;
    }
    const bool is_held = pace_ && pace_->is_held(std::int32_t(a));
    moved[std::size_t(activity.path)] +=
        activity.bytes - (is_held ? 0 : flows_.remaining(std::int32_t(a), span, activity.bytes));
  }
  const auto capacity = [&](LinkIndex link) { return capacities_.of(link) * span; };
  const auto for_paths = [&](auto&& each) {
    for (std::size_t a = 0; a + 1 < whole.first_path.size(); ++a) {
      const std::size_t activity = part_of.empty() ? a : std::size_t(part_of[a]);
      std::int32_t p = table_.first_path[activity];
      for (const Path& path : whole.paths_of(a)) {
        const double bytes = moved[std::size_t(p++)];
        if (bytes <= 0) continue;
        for (const Use& use : path.uses) each(use.link, use.weight * bytes, activities_[activity].what.job);
      }
    }
  };

  LinkReport report;
  report.span = span;
  std::vector<double> taken(capacities_.links());  // by link, of its capacity
  if (span > 0)
    for_paths([&](LinkIndex link, double bytes, std::int32_t) {
      taken[std::size_t(link)] += bytes / capacity(link);
    });
  std::vector<LinkIndex> hottest;
  std::array<LinkClassLoad, std::size_t(LinkClass::global) + 1> classes;
  for (std::size_t l = 0; l < taken.size(); ++l) {
    const LinkClass link_class = capacities_.class_of(LinkIndex(l));
    LinkClassLoad& load = classes[std::size_t(link_class)];
    load.link_class = link_class;
    ++load.links;
    if (taken[l] <= 0) continue;
    ++load.used;
    load.mean += taken[l];
    load.most = std::max(load.most, taken[l]);
    hottest.push_back(LinkIndex(l));
  }
  for (LinkClassLoad& load : classes) {
    if (load.used == 0) continue;
    load.mean /= double(load.used);
    report.classes.push_back(load);
  }

  const std::size_t rows = std::min(most_rows, hottest.size());
  std::ranges::partial_sort(hottest, hottest.begin() + std::ptrdiff_t(rows), [&](LinkIndex a, LinkIndex b) {
    const double one = taken[std::size_t(a)], other = taken[std::size_t(b)];
    return one != other ? one > other : a < b;
  });
  const std::vector<std::pair<LinkIndex, double>> full = flows_.full_times(span);  // ascending
  std::vector<std::uint8_t> row_of(rows > 0 ? taken.size() : 0);                   // by link, from 1 on
  for (std::size_t row = 0; row < rows; ++row) {
    const LinkIndex link = hottest[row], stands = link_of.empty() ? link : link_of[std::size_t(link)];
    const auto found = std::ranges::lower_bound(full, stands, {}, &std::pair<LinkIndex, double>::first);
    report.hot.push_back({.link = link,
                          .link_class = capacities_.class_of(link),
                          .utilisation = taken[std::size_t(link)],
                          .full = found != full.end() && found->first == stands ? found->second : 0,
                          .by_job = std::vector<double>(jobs_.size())});
    row_of[std::size_t(link)] = std::uint8_t(row + 1);
  }
  if (rows > 0)
    for_paths([&](LinkIndex link, double bytes, std::int32_t job) {
      if (const std::size_t row = row_of[std::size_t(link)]; row > 0)
        report.hot[row - 1].by_job[std::size_t(job)] += bytes / capacity(link);
    });

  std::vector<LinkReport> reports(jobs_.size(), report);
  for (const auto& [what, seconds] : slowed(whole, part_of, link_of)) {
    const auto& [link, by, job, kind, phase] = what;
    reports[std::size_t(job)].slowed.push_back({.by = by,
                                                .link = link,
                                                .link_class = capacities_.class_of(link),
                                                .kind = kind,
                                                .phase = phase,
                                                .lost = seconds});
  }
  for (LinkReport& of_job : reports) {
    for (const Slowing& slowing : of_job.slowed) of_job.lost += slowing.lost;
    std::ranges::stable_sort(of_job.slowed, std::greater{}, &Slowing::lost);
    if (of_job.slowed.size() > most_rows) of_job.slowed.resize(most_rows);
  }
  return reports;
}

}  // namespace dlnb::sim
