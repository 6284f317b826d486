// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <dlnb/trace.hpp>

#include "analysis/matching.hpp"

namespace dlnb {

/// When the last participant of each operation reached it, in one iteration at a time.
class Arrivals {
 public:
  /// Aborts (our mistake) where the trace lacks a rank or operations of one.
  Arrivals(const Matching& matching, const Trace& trace);

  /// Reads iteration `iteration`; everything below is about it.
  void load(int iteration);

  const Matching& matching() const { return *matching_; }
  const RankTrace& rank(std::int64_t rank) const { return trace_->ranks[std::size_t(rank)]; }
  int iteration() const { return iteration_; }
  OperationTimes times(std::int64_t rank) const {
    return trace_->ranks[std::size_t(rank)].iteration(std::size_t(iteration_));
  }
  /// By operation of a rank, nanoseconds on the trace's clock. Collectives: last begin of the group. Messages: the later
  /// begin of the two. Everything else: the rank's own begin.
  void last(std::int64_t rank, std::vector<std::int64_t>& last) const;

 private:
  /// Where the last arrival at a collective of a rank is, in `last_of_[channel]`.
  std::size_t place_of(const MatchedCollective& collective, std::size_t rank) const {
    const CollectiveChannel& channel = matching_->channels[std::size_t(collective.channel)];
    return std::size_t(channel.group_of[rank] * channel.stride + collective.ordinal);
  }

  const Matching* matching_;
  const Trace* trace_;
  int iteration_ = 0;
  std::vector<std::vector<std::int64_t>> last_of_;  // [channel][group · stride + ordinal]
};

}  // namespace dlnb
