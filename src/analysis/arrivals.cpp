// SPDX-License-Identifier: Apache-2.0
// Two sequential passes over the trace (one here, one by the reader), whatever the size of the groups.
#include "analysis/arrivals.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

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
    DLNB_REQUIRE(rank.simulated.form != nullptr ||
                     (rank.iteration_begin.size() == iterations && rank.iteration_end.size() == iterations),
                 "a trace has begin and end of every iteration");
  }
  find_stand_ins();
  find_groups();
}

void Arrivals::find_stand_ins() {
  std::map<std::pair<const std::int64_t*, std::int32_t>, std::int64_t> known;
  alike_.resize(trace_->ranks.size());
  for (std::size_t r = 0; r < trace_->ranks.size(); ++r) {
    const std::int64_t* const values = trace_->ranks[r].simulated.values.get();
    std::int64_t stand_in = std::int64_t(r);
    if (values != nullptr)
      stand_in = known.try_emplace({values, matching_->role_of[r]}, stand_in).first->second;
    stand_in_.push_back(stand_in);
    ++alike_[std::size_t(stand_in)];
  }
}

void Arrivals::find_groups() {
  std::vector<std::int64_t> slots(matching_->channels.size());
  for (const CollectiveChannel& channel : matching_->channels)
    slot_of_.emplace_back(std::size_t(channel.groups), std::int64_t{-1});
  for (std::size_t r = 0; r < stand_in_.size(); ++r) {
    if (stand_in_[r] != std::int64_t(r)) continue;
    for (const MatchedCollectives& collectives : matching_->program_of(std::int64_t(r)).collectives) {
      const auto channel = std::size_t(collectives.channel);
      std::int64_t& slot = slot_of_[channel][std::size_t(matching_->channels[channel].group_of[r])];
      if (slot < 0) slot = slots[channel]++;
    }
  }
  for (std::size_t c = 0; c < slots.size(); ++c)
    last_of_.emplace_back(std::size_t(slots[c] * matching_->channels[c].stride));
}

void Arrivals::load(int iteration) {
  iteration_ = iteration;
  for (auto& last : last_of_) std::fill(last.begin(), last.end(), std::numeric_limits<std::int64_t>::min());
  for (std::size_t r = 0; r < trace_->ranks.size(); ++r) {
    const OperationTimes of = times(std::int64_t(r));
    for (const MatchedCollectives& collectives : matching_->program_of(std::int64_t(r)).collectives) {
      const auto channel = std::size_t(collectives.channel);
      const auto& group_of = matching_->channels[channel].group_of;
      const auto stand_in = std::size_t(stand_in_[r]);
      // What it shares with its stand-in is there already.
      if (stand_in != r && group_of[stand_in] == group_of[r]) continue;
      const std::int64_t place = place_of(channel, r);
      if (place < 0) continue;
      auto last = last_of_[channel].begin() + place;
      for (const OperationIndex operation : collectives.operations) {
        *last = std::max(*last, of.begin(std::size_t(operation)));
        ++last;
      }
    }
  }
}

void Arrivals::last(std::int64_t rank, std::vector<std::int64_t>& last) const {
  rank = stand_in(rank);
  const MatchedProgram& program = matching_->program_of(rank);
  const OperationTimes own = times(rank);
  last.resize(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) last[i] = own.begin(i);
  for (const MatchedCollectives& collectives : program.collectives) {
    const auto channel = std::size_t(collectives.channel);
    auto of_group = last_of_[channel].begin() + place_of(channel, std::size_t(rank));
    for (const OperationIndex operation : collectives.operations) last[std::size_t(operation)] = *of_group++;
  }
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
