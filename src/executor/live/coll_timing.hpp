// SPDX-License-Identifier: Apache-2.0
// The timed loops of the benchmark. Inside them nothing allocates, locks or speaks; a loop whose iterations are not
// timed one by one reads no clock either.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <dlnb/coll.hpp>

#include "executor/live/coll_case.hpp"
#include "executor/live/compute.hpp"
#include "executor/live/outstanding.hpp"
#include "executor/live/watchdog.hpp"  // Place

namespace dlnb {

/// One rank's times of one row, ns per iteration.
struct CollTimes {
  double mean = 0;
  double compute = 0, overall = 0;  ///< with overlap
};

/// Something that happens to this rank before one of the timed iterations.
struct CollIncident {
  int iteration = 0;
  std::function<void()> strike;
};

/// How many of the `left` iterations come next, the same on all ranks; 0: they have agreed to end. All ranks ask,
/// outside what is timed, and go on together.
using NextStretch = std::function<int(int left)>;

class CollTimer {
 public:
  /// `place` is where the watchdog looks. `in_step` is a barrier of the group. `outstanding` is null unless transfers are
  /// to be non-blocking.
  CollTimer(const CollSpec& spec, Transport& transport, Clock& clock, Place& place, const Transfer& in_step,
            Outstanding* outstanding)
      : spec_(spec),
        transport_(transport),
        clock_(clock),
        place_(place),
        in_step_(in_step),
        outstanding_(outstanding) {}

  /// One operation, in the form that is timed.
  void once(const CollMoves& moves);
  /// What follows is false, or nothing, where the ranks have agreed to end before it was complete.
  bool warm_up(const CollMoves& moves, const NextStretch& next);
  /// `series` gets the time of every iteration where it has room for them.
  std::optional<CollTimes> measure(const CollMoves& moves, std::vector<std::int64_t>& series,
                                   const NextStretch& next, const std::optional<CollIncident>& incident = {});
  /// The same with `compute` in between; `times` are those of pure communication, and are added to.
  bool overlap(const CollMoves& moves, const NextStretch& next, Compute& compute, CollTimes& times);

 private:
  // Iterations [first, last).
  std::int64_t timed(const CollMoves& moves, std::vector<std::int64_t>& series, int first, int last);
  std::int64_t back_to_back(const CollMoves& moves, std::vector<std::int64_t>& series, int first, int last);
  std::int64_t one_by_one(const CollMoves& moves, std::vector<std::int64_t>& series, int first, int last);
  void start(const CollMoves& moves);
  void wait(const CollMoves& moves);

  const CollSpec& spec_;
  Transport& transport_;
  Clock& clock_;
  Place& place_;
  const Transfer in_step_;
  Outstanding* const outstanding_;
};

}  // namespace dlnb
