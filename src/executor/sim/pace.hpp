// SPDX-License-Identifier: Apache-2.0
// How long compute phases and collectives of disturbed jobs take: noise, and compute that slows down while its rank
// communicates. Nothing of this exists where no job is disturbed.
//   A phase of w seconds runs at speed 1, or at 1/f while operations of its rank that it does not wait for (non-blocking
//   collectives and messages) are in flight, from their start (all members there) to their completion.
//   Left of it at t: w − Σ speed · (time that noise has left the rank).
#pragma once

#include <cstdint>
#include <vector>

#include <dlnb/machine.hpp>

#include "executor/sim/events.hpp"
#include "executor/sim/lines.hpp"
#include "executor/sim/noise.hpp"
#include "executor/sim/program.hpp"

namespace dlnb::sim {

class Pace {
 public:
  /// One disturbance for each job; they outlive it.
  Pace(const Lines& lines, const std::vector<const Disturbance*>& disturbances,
       std::vector<std::int32_t> job_of_runner, const Machine& machine, const Placement& placement);

  bool slows_down(std::int32_t job) const { return of_job(job).overlap_slowdown != 1; }
  /// Whether operations of a job end otherwise than on links alone, or compute between them.
  bool disturbs(std::int32_t job) const { return !of_job(job).is_none(); }

  // --- runners: whatever wakes one is an event `computed` at the time that these say ---
  /// The first time from `at` on at which it can do something; it sleeps until then where that is later.
  double wake(std::int32_t runner, double at);
  /// The same for the beginning of a job: it sleeps until then in any case, unless that is 0.
  double first(std::int32_t runner, double at);
  /// When a compute phase is done, as far as is known now.
  double begin(std::int32_t runner, std::int64_t iteration, double now, double work);
  /// Whether an event is what the runner sleeps for; others are of what has changed since.
  bool is_due(std::int32_t runner, double at);
  /// Operations of its own more or fewer are in flight; adds an event where its phase ends at another time now.
  void communicate(std::int32_t runner, int more, double now, Events& events);

  // --- collectives ---
  void started(std::int32_t activity, double now) { collectives_[std::size_t(activity)].began = now; }
  /// When one whose data has just moved completes: `now`, or later, when it is asked again.
  double completion(std::int32_t activity, std::int64_t number, std::int32_t job, double now);
  /// Whether it is over but for that.
  bool is_held(std::int32_t activity) const { return collectives_[std::size_t(activity)].held; }

 private:
  struct Sleep {
    RankState noise;     ///< at `since`
    RankState ahead;     ///< at `due`
    double since = 0;    ///< s: `left` was so much then
    double left = 0;     ///< s of compute
    double due = never;  ///< s
    double speed = 1;
    std::int32_t in_flight = 0;
    bool computes = false;
  };
  struct Operation {
    CollectiveState noise;
    double began = 0;
    int nodes = 1;
    bool held = false;
  };

  const Disturbance& of_job(std::int32_t job) const { return *disturbances_[std::size_t(job)]; }
  const Disturbance& of(std::int32_t runner) const { return of_job(job_of_runner_[std::size_t(runner)]); }
  void look_ahead(Sleep& sleep, const Disturbance& disturbance);

  std::vector<const Disturbance*> disturbances_;  ///< by job
  std::vector<std::int32_t> job_of_runner_;
  std::vector<Sleep> sleeps_;           ///< by runner
  std::vector<Operation> collectives_;  ///< by activity
};

}  // namespace dlnb::sim
