// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <dlnb/links.hpp>
#include <dlnb/machine.hpp>
#include <dlnb/trace.hpp>

#include "executor/sim/events.hpp"
#include "executor/sim/flows.hpp"
#include "executor/sim/lines.hpp"
#include "executor/sim/noise.hpp"
#include "executor/sim/pace.hpp"
#include "executor/sim/path_table.hpp"
#include "executor/sim/program.hpp"

namespace dlnb::sim {

/// One of the jobs that share the machine.
struct Job {
  std::int32_t first_rank = 0;    ///< of all jobs' ranks
  std::int32_t first_runner = 0;  ///< of all jobs' runners
  int warmup = 0;
  int iterations = 1;                 ///< warm-up included
  double start = 0;                   ///< seconds
  bool repeats = false;               ///< goes on until the others have finished
  std::vector<std::int64_t*> values;  ///< by runner: where the trace keeps the measured iterations
  const Disturbance* disturbance = nullptr;
};

/// Runs every rank's program on the machine and writes down what happened when.
class Engine {
 public:
  /// `jobs` in the order of their ranks; one at least does not repeat. `shared` outlives it.
  Engine(const std::vector<Role>& roles, const Lines& lines, const PathTable& table, const Shared& shared,
         const std::vector<Job>& jobs, const Capacities& capacities, const Machine& machine,
         const Placement& placement, const Network& network);

  /// To the end, or until members of activities may differ: of which, and where.
  std::vector<Flows::Torn> run();
  /// Measured iterations that every rank of a job has completed.
  int completed_iterations(std::size_t job) const;
  /// What the links did, as each job saw it. `whole`: the paths of everything that the activities stand for; `part_of`: by
  /// activity there, which of those here it is one of; `link_of`: which link stands for a link; both empty where nothing is folded.
  std::vector<LinkReport> link_reports(const PathTable& whole, std::span<const std::int32_t> part_of,
                                       std::span<const LinkIndex> link_of) const;

 private:
  /// Where a runner is in its program. With all that is asked for again and again: of a hundred thousand runners nothing
  /// is in a cache.
  struct Position {
    const Role* role = nullptr;
    std::int32_t first_line = 0;  ///< into activity_of_line
    std::int32_t job = 0;
    std::int32_t iteration = 0;  ///< warm-up included
    std::int32_t action = 0;
    std::int32_t waiting = -1;       ///< the activity it waits for …
    bool arrived = false;            ///< at `action`: its begin is written
    std::int64_t until = 0;          ///< … to have completed this many operations
    std::int64_t* values = nullptr;  ///< of this iteration in the trace; null where it is not measured
  };

  /// The state of a communicator or pair. It does its operations one after the other.
  struct alignas(64) Activity {
    std::int64_t completed = 0;           ///< operations, over all iterations
    std::int64_t sent = 0, received = 0;  ///< pairs: messages posted
    Seat sender, receiver;                ///< pairs
    double bytes = 0;                     ///< that its reference flow moves
    double since = 0;                     ///< when the stretch in progress began
    std::int32_t path = -1;               ///< of the operation in progress; of a pair always the same
    Flowing what;
    bool busy = false;
    bool is_private = false;  ///< one role's, over links on which nobody can slow it down
    std::int32_t skipped_actions = 0,
                 skipped_operations = 0;  ///< of the stretch in progress, behind its first
    std::vector<std::int32_t> arrived;    ///< communicators: runners at operation k, at k mod size
  };

  const Job& job_of(std::int32_t runner) const {
    return jobs_[std::size_t(positions_[std::size_t(runner)].job)];
  }
  const Role& role_of(std::int32_t runner) const { return *positions_[std::size_t(runner)].role; }
  std::int32_t activity_of(const Position& position, std::int32_t line) const {
    return lines_.activity_of_line[std::size_t(position.first_line + line)];
  }
  static std::int64_t number_of(const Position& position, const Action& action) {
    const std::size_t each = position.role->lines[std::size_t(action.line)].actions.size();
    return std::int64_t(position.iteration) * std::int64_t(each) + action.ordinal;
  }

  void advance(std::int32_t runner, double now);
  bool begin(std::int32_t runner, const Action& action, double now);
  bool must_wait(std::int32_t runner, const Action& action);

  void arrive(std::int32_t activity, std::int64_t number, double now);
  void start_collective(std::int32_t activity, double now);
  /// Starts a stretch of collectives that nobody can slow down, and of the computing between them: when everything in it
  /// will happen is known.
  void start_stretch(std::int32_t activity, const Role& role, const Action& first, double now);
  void find_private_activities();
  /// Adds what the operation or stretch that has just ended has moved.
  void count_moved(std::int32_t activity);
  /// Adds what the stretch in progress has moved by then.
  void add_stretch(std::int32_t activity, double until, std::vector<double>& moved) const;
  void start_message(std::int32_t activity, double now);
  void start(std::int32_t activity, const Action& action, double now);
  /// The path for an operation of this kind and size.
  std::int32_t path_of(std::int32_t activity, OperationKind kind, double bytes) const {
    return table_.path_of(std::size_t(activity), kind, bytes);
  }

  void happen(const Event& event);
  /// An activity's data has moved: it is complete, unless noise holds it up.
  void moved(std::int32_t activity, double now);
  /// Where computing depends on it: the operation that has just begun (+1) or completed (−1) is in flight for those who
  /// do not wait for it.
  void communicate(std::int32_t activity, std::int64_t number, int more, double now);
  void follow_disturbances(const Machine& machine, const Placement& placement);
  void complete(std::int32_t activity, double now);
  void complete_at(const Seat& seat, std::int32_t activity, std::int64_t number, double now);

  /// Whether an iteration is measured: behind the warm-up and, where the job repeats, before its repetitions.
  static bool is_measured(const Job& job, std::int64_t iteration) {
    return iteration >= job.warmup && iteration < job.iterations;
  }
  /// A job that takes next to no time would repeat for ever.
  static constexpr std::int32_t most_repetitions = 10'000'000;
  [[noreturn]] void refuse_to_repeat(std::int32_t job, double now) const;

  /// Monotonic, so that intervals neither overlap nor run backwards.
  /// s: traces have nanoseconds of 63 bits.
  static constexpr double latest = 9.2e9;
  static std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }
  /// Of an iteration in the trace, as `SharedTimes` has them; null where it is not measured.
  std::int64_t* values_of(std::int32_t runner, std::int64_t iteration) const;
  /// What slowed operations down, each on a link of its own.
  std::map<std::tuple<LinkIndex, std::int32_t, std::int32_t, OperationKind, Phase>, double> slowed(
      const PathTable& whole, std::span<const std::int32_t> part_of,
      std::span<const LinkIndex> link_of) const;
  [[noreturn]] void report_deadlock() const;

  const Lines& lines_;
  const PathTable& table_;
  const std::vector<Job>& jobs_;
  const Capacities& capacities_;
  Events events_;
  double end_ = 0;             ///< simulated seconds
  std::vector<double> moved_;  ///< bytes of its reference flow, by path
  Flows flows_;
  std::optional<Pace> pace_;         ///< where a job is disturbed
  std::vector<Position> positions_;  ///< by runner
  std::vector<Activity> activities_;
  std::vector<std::int32_t> ready_;  ///< runners that can go on now, in order
  std::size_t awaited_ = 0;          ///< runners of jobs that do not repeat
  std::size_t finished_ = 0;         ///< of these
};

}  // namespace dlnb::sim
