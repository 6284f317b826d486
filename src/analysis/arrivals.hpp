// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
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
  std::span<const Interval> intervals(std::int64_t rank) const;
  /// Nanoseconds on the trace's clock. Collectives: last begin of the group. Messages: the later begin of the
  /// two. Everything else: the rank's own begin.
  std::int64_t last(std::int64_t rank, OperationIndex index) const;

 private:
  const Matching* matching_;
  const Trace* trace_;
  int iteration_ = 0;
  std::vector<std::vector<std::int64_t>> last_of_;  // [channel][group · stride + ordinal]
};

}  // namespace dlnb
