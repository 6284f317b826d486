// SPDX-License-Identifier: Apache-2.0
// Two sequential passes over the trace (one here, one by the reader), whatever the size of the groups.
#include "analysis/arrivals.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include <dlnb/error.hpp>

namespace dlnb {

Arrivals::Arrivals(const Matching& matching, const Trace& trace) : matching_(&matching), trace_(&trace) {
  const auto iterations = std::size_t(trace.iterations);
  DLNB_REQUIRE(trace.ranks.size() == matching.role_of.size(), "a trace has every rank of its schedule");
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const RankTrace& rank = trace.ranks[r];
    DLNB_REQUIRE(rank.rank == std::int64_t(r), "ranks of a trace ascend from 0");
    DLNB_REQUIRE(rank.intervals.size() == iterations * matching.program_of(rank.rank).operations.size(),
                 "a trace has an interval for every operation of every iteration");
    DLNB_REQUIRE(rank.iteration_begin.size() == iterations && rank.iteration_end.size() == iterations,
                 "a trace has begin and end of every iteration");
  }
  for (const CollectiveChannel& channel : matching.channels)
    last_of_.emplace_back(std::size_t(channel.groups * channel.stride));
}

void Arrivals::load(int iteration) {
  iteration_ = iteration;
  for (auto& last : last_of_) std::fill(last.begin(), last.end(), std::numeric_limits<std::int64_t>::min());
  for (std::size_t r = 0; r < trace_->ranks.size(); ++r) {
    const MatchedProgram& program = matching_->program_of(std::int64_t(r));
    const auto of = intervals(std::int64_t(r));
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (program.channel[i] < 0) continue;
      const CollectiveChannel& channel = matching_->channels[std::size_t(program.channel[i])];
      std::int64_t& last = last_of_[std::size_t(program.channel[i])]
                                   [std::size_t(channel.group_of[r] * channel.stride + program.ordinal[i])];
      last = std::max(last, of[i].begin);
    }
  }
}

std::span<const Interval> Arrivals::intervals(std::int64_t rank) const {
  const std::size_t operations = matching_->program_of(rank).operations.size();
  return {trace_->ranks[std::size_t(rank)].intervals.data() + std::size_t(iteration_) * operations,
          operations};
}

std::int64_t Arrivals::last(std::int64_t rank, OperationIndex index) const {
  const MatchedProgram& program = matching_->program_of(rank);
  const auto i = std::size_t(index);
  if (program.channel[i] >= 0) {
    const CollectiveChannel& channel = matching_->channels[std::size_t(program.channel[i])];
    return last_of_[std::size_t(program.channel[i])]
                   [std::size_t(channel.group_of[std::size_t(rank)] * channel.stride + program.ordinal[i])];
  }
  const std::int64_t own = intervals(rank)[i].begin;
  const Operation& operation = program.operations[i];
  if (!is_message(operation.kind)) return own;

  const Schedule& schedule = *matching_->schedule;
  const auto coordinate = schedule.grid.coordinate(rank, std::countr_zero(operation.axes));
  const OperationIndex partner = program.partner[i][std::size_t(coordinate)];
  DLNB_REQUIRE(partner >= 0, "every send has its receive");
  return std::max(own, intervals(peer_of(schedule, rank, operation))[std::size_t(partner)].begin);
}

}  // namespace dlnb
