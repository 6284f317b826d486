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

template <class Row>
void keep_most(std::vector<Row>& rows, double Row::* value) {
  const auto kept = rows.begin() + std::ptrdiff_t(std::min(most_rows, rows.size()));
  std::ranges::partial_sort(rows, kept, [&](const Row& a, const Row& b) {
    return a.*value != b.*value ? a.*value > b.*value : a.link < b.link;
  });
  rows.erase(kept, rows.end());
}

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
  std::vector<double> taken(capacities_.links());
  if (span > 0)
    for_paths([&](LinkIndex link, double bytes, std::int32_t) {
      taken[std::size_t(link)] += bytes / capacity(link);
    });
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
    report.hot.push_back({.link = LinkIndex(l), .link_class = link_class, .utilisation = taken[l]});
    if (report.hot.size() >= 4096) keep_most(report.hot, &HotLink::utilisation);
  }
  keep_most(report.hot, &HotLink::utilisation);
  for (LinkClassLoad& load : classes) {
    if (load.used == 0) continue;
    load.mean /= double(load.used);
    report.classes.push_back(load);
  }

  std::map<LinkIndex, HotLink*> hot;
  for (HotLink& link : report.hot) {
    link.by_job.resize(jobs_.size());
    hot[link.link] = &link;
  }
  for_paths([&](LinkIndex link, double bytes, std::int32_t job) {
    if (const auto found = hot.find(link); found != hot.end())
      found->second->by_job[std::size_t(job)] += bytes / capacity(link);
  });
  std::map<LinkIndex, double> full;
  for (const auto& [link, seconds] : flows_.full_times(span)) full[link] = seconds;
  for (HotLink& link : report.hot)
    if (const auto found = full.find(link_of.empty() ? link.link : link_of[std::size_t(link.link)]);
        found != full.end())
      link.full = found->second;

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
