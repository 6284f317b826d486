// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <dlnb/trace.hpp>

#include "analysis/matching.hpp"

namespace dlnb {

/// When the last participant of each operation reached it, in one iteration at a time. Of simulated ranks that share their
/// times one is looked at for all.
class Arrivals {
 public:
  /// Aborts (our mistake) where the trace lacks a rank or operations of one.
  Arrivals(const Matching& matching, const Trace& trace);

  /// Reads iteration `iteration`; everything below is about it.
  void load(int iteration);

  const Matching& matching() const { return *matching_; }
  const RankTrace& rank(std::int64_t rank) const { return trace_->ranks[std::size_t(rank)]; }
  int iteration() const { return iteration_; }
  /// The lowest rank of the same role that shares its times with this one, which then is true of their partners; itself
  /// where there is none.
  std::int64_t stand_in(std::int64_t rank) const { return stand_in_[std::size_t(rank)]; }
  /// How many ranks have this stand-in.
  std::int64_t alike(std::int64_t stand_in) const { return alike_[std::size_t(stand_in)]; }
  OperationTimes times(std::int64_t rank) const {
    return trace_->ranks[std::size_t(rank)].iteration(std::size_t(iteration_));
  }
  /// By operation of a rank, nanoseconds on the trace's clock. Collectives: last begin of the group. Messages: the later
  /// begin of the two. Everything else: the rank's own begin.
  void last(std::int64_t rank, std::vector<std::int64_t>& last) const;

 private:
  void find_stand_ins();
  void find_groups();
  /// Where in `last_of_[channel]` a rank's first collective on it is; −1: no stand-in asks for it.
  std::int64_t place_of(std::size_t channel, std::size_t rank) const {
    const CollectiveChannel& of = matching_->channels[channel];
    return slot_of_[channel][std::size_t(of.group_of[rank])] * of.stride;
  }

  const Matching* matching_;
  const Trace* trace_;
  int iteration_ = 0;
  std::vector<std::int64_t> stand_in_, alike_;      // [rank]
  std::vector<std::vector<std::int64_t>> slot_of_;  // [channel][group]; no stand-in is in it: −1
  std::vector<std::vector<std::int64_t>> last_of_;  // [channel][slot · stride + ordinal]
};

}  // namespace dlnb
