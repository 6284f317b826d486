// SPDX-License-Identifier: Apache-2.0
// Two sequential passes over the trace (one here, one by the reader), whatever the size of the groups.
#include "analysis/arrivals.hpp"

#include <algorithm>
#include <limits>

#include <dlnb/error.hpp>

namespace dlnb {

Arrivals::Arrivals(const Matching& matching, const Trace& trace) : matching_(&matching), trace_(&trace) {
  const auto iterations = std::size_t(trace.iterations);
  DLNB_REQUIRE(trace.ranks.size() == matching.role_of.size(), "a trace has every rank of its schedule");
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const RankTrace& rank = trace.ranks[r];
    DLNB_REQUIRE(rank.rank == std::int64_t(r), "ranks of a trace ascend from 0");
    DLNB_REQUIRE(iterations == 0 || rank.operations() == matching.program_of(rank.rank).operations.size(),
                 "a trace has the times of every operation of every iteration");
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
    const OperationTimes of = times(std::int64_t(r));
    for (const MatchedCollective& collective : program.collectives) {
      std::int64_t& last = last_of_[std::size_t(collective.channel)][place_of(collective, r)];
      last = std::max(last, of.begin(std::size_t(collective.operation)));
    }
  }
}

void Arrivals::last(std::int64_t rank, std::vector<std::int64_t>& last) const {
  const MatchedProgram& program = matching_->program_of(rank);
  const OperationTimes own = times(rank);
  last.resize(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) last[i] = own.begin(i);
  for (const MatchedCollective& collective : program.collectives)
    last[std::size_t(collective.operation)] =
        last_of_[std::size_t(collective.channel)][place_of(collective, std::size_t(rank))];
  const ProcessGrid& grid = matching_->schedule->grid;
  for (const MatchedMessages& messages : program.messages) {
    const auto& partner = messages.partner[std::size_t(grid.coordinate(rank, messages.axis))];
    DLNB_REQUIRE(partner.size() == messages.own.size(), "every send has its receive");
    const OperationTimes peer = times(grid.with_coordinate(rank, messages.axis, messages.peer));
    for (std::size_t n = 0; n < partner.size(); ++n) {
      std::int64_t& later = last[std::size_t(messages.own[n])];
      later = std::max(later, peer.begin(std::size_t(partner[n])));
    }
  }
}

}  // namespace dlnb
