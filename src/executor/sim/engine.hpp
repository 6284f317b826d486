// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <dlnb/machine.hpp>
#include <dlnb/trace.hpp>

#include "executor/sim/events.hpp"
#include "executor/sim/flows.hpp"
#include "executor/sim/lines.hpp"
#include "executor/sim/paths.hpp"
#include "executor/sim/program.hpp"

namespace dlnb::sim {

/// Runs every rank's program on the machine and writes down what happened when.
class Engine {
 public:
  /// `trace` has room for the measured iterations of every rank.
  Engine(const std::vector<Role>& roles, const Lines& lines, const Machine& machine,
         const Placement& placement, const Network& network, int warmup, Trace& trace);

  void run();

 private:
  /// Where a rank is in its program.
  struct Rank {
    std::int32_t iteration = 0;  ///< warm-up included
    std::int32_t action = 0;
    std::int32_t waiting = -1;  ///< the activity it waits for …
    bool arrived = false;       ///< at `action`: its begin is written
    std::int64_t until = 0;     ///< … to have completed this many operations
  };

  /// The state of a communicator or pair. It does its operations one after the other.
  struct Activity {
    std::int64_t completed = 0;  ///< operations, over all iterations
    bool busy = false;
    Path* path = nullptr;               ///< of the operation in progress
    double bytes = 0;                   ///< that its reference flow moves
    std::vector<std::int32_t> arrived;  ///< communicators: members at operation k, at k mod size
    std::vector<std::pair<OperationKind, Path*>> paths;  ///< found so far
    std::int64_t sent = 0, received = 0;                 ///< pairs: messages posted
  };

  const Role& role_of(std::int32_t rank) const {
    return roles_[std::size_t(lines_.role_of[std::size_t(rank)])];
  }
  std::int64_t number_of(std::int32_t rank, const Action& action) const;

  void advance(std::int32_t rank, double now);
  bool begin(std::int32_t rank, const Action& action, double now);
  bool must_wait(std::int32_t rank, const Action& action);

  void arrive(std::int32_t activity, std::int64_t number, double now);
  void start_collective(std::int32_t activity, double now);
  void start_message(std::int32_t activity, double now);
  void start(std::int32_t activity, Path& path, double bytes, double now);
  /// The fastest path for an operation of this kind and size.
  Path& path_of(std::int32_t activity, OperationKind kind, double bytes);
  void find_paths(std::int32_t activity, OperationKind kind);

  void happen(const Event& event);
  void complete(std::int32_t activity, double now);
  void complete_at(std::int32_t rank, std::int32_t line, std::int32_t activity, std::int64_t number,
                   double now);

  /// Where a rank's measured operation is written; null in warm-up.
  Interval* interval(std::int32_t rank, std::int64_t iteration, std::int32_t action);
  [[noreturn]] void report_deadlock() const;

  const std::vector<Role>& roles_;
  const Lines& lines_;
  int warmup_;
  int iterations_;  ///< warm-up included
  Trace& trace_;
  Events events_;
  Flows flows_;
  Paths paths_;
  std::deque<Path> found_;  ///< stable addresses
  std::vector<Rank> ranks_;
  std::vector<Activity> activities_;
  std::vector<std::int32_t> ready_;  ///< ranks that can go on now, in order
  std::size_t finished_ = 0;         ///< ranks
};

}  // namespace dlnb::sim
