// SPDX-License-Identifier: Apache-2.0
#include "analysis/timeline.hpp"

#include <algorithm>

#include "analysis/walk.hpp"

namespace dlnb {
namespace {

std::vector<std::int64_t> sample_of_ranks(const Matching& matching) {
  const auto ranks = std::int64_t(matching.role_of.size());
  std::vector<std::int64_t> sample;
  std::vector<bool> role_seen(matching.programs.size()), taken(matching.role_of.size());
  for (const bool first_of_role : {true, false})
    for (std::int64_t rank = 0; rank < ranks && sample.size() < timeline_ranks; ++rank) {
      const auto role = std::size_t(matching.role_of[std::size_t(rank)]);
      if (taken[std::size_t(rank)] || (first_of_role && role_seen[role])) continue;
      role_seen[role] = taken[std::size_t(rank)] = true;
      sample.push_back(rank);
    }
  std::sort(sample.begin(), sample.end());
  return sample;
}

// A merged event keeps what its parts agree on.
void extend(TimelineEvent& event, const TimelineEvent& next) {
  event.end = next.end;
  if (event.layer != next.layer) event.layer = nothing;
  if (event.microbatch != next.microbatch) event.microbatch = nothing;
  if (event.axis != next.axis) event.axis.clear();
}

void merge_neighbours(std::vector<TimelineEvent>& events) {
  std::vector<TimelineEvent> merged;
  for (const TimelineEvent& event : events) {
    if (!merged.empty() && merged.back().cause == event.cause) extend(merged.back(), event);
    else merged.push_back(event);
  }
  events = std::move(merged);
}

}  // namespace

bool shorten(std::vector<TimelineEvent>& events, std::size_t limit) {
  if (events.size() <= limit) return false;
  merge_neighbours(events);
  if (events.size() <= limit) return true;

  const auto length = [](const TimelineEvent& event) { return event.end - event.begin; };
  std::vector<std::size_t> longest_first(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) longest_first[i] = i;
  std::ranges::stable_sort(longest_first, std::greater{}, [&](std::size_t i) { return length(events[i]); });
  longest_first.resize(limit);
  std::ranges::sort(longest_first);
  std::vector<TimelineEvent> kept;
  for (const std::size_t i : longest_first) kept.push_back(std::move(events[i]));
  events = std::move(kept);
  return true;
}

Timeline timeline_of(const Trace& trace, Arrivals& arrivals, int iteration) {
  arrivals.load(iteration);
  const Matching& matching = arrivals.matching();
  std::int64_t zero = trace.ranks.front().begin_of(std::size_t(iteration));
  for (const RankTrace& rank : trace.ranks) zero = std::min(zero, rank.begin_of(std::size_t(iteration)));

  Timeline timeline;
  Walk scratch;
  for (const std::int64_t rank : sample_of_ranks(matching)) {
    const MatchedProgram& program = matching.program_of(rank);
    TimelineRank row{rank, matching.role_of[std::size_t(rank)], {}};
    walk(arrivals, rank, scratch,
         [&](OperationIndex index, Cause cause, std::int64_t begin, std::int64_t end) {
           const Operation& operation = program.operations[std::size_t(index)];
           row.events.push_back({.begin = begin - zero,
                                 .end = end - zero,
                                 .kind = operation.kind,
                                 .phase = operation.phase,
                                 .layer = operation.layer,
                                 .microbatch = operation.microbatch,
                                 .axis = matching.schedule->grid.text(operation.axes),
                                 .cause = name_of(cause)});
         });
    timeline.truncated |= shorten(row.events, timeline_events);
    timeline.ranks.push_back(std::move(row));
  }
  return timeline;
}

}  // namespace dlnb
