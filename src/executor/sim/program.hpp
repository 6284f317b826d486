// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <dlnb/schedule.hpp>
#include <dlnb/trace.hpp>

#include "executor/sim/shared_list.hpp"

namespace dlnb::sim {

enum class Doing : std::uint8_t { nothing, compute, collective, send, recv, wait };

/// One operation, reduced to what the engine looks at; the same on all ranks of a role.
struct Action {
  Doing doing = Doing::nothing;
  bool blocking = true;
  bool eager = false;  ///< a send that does not wait for its receiver
  OperationKind kind = OperationKind::compute;
  Phase phase = Phase::forward;
  std::int32_t line = 0;     ///< index into Role::lines
  std::int32_t ordinal = 0;  ///< among the line's operations of one iteration; wait: first of its targets
  std::int32_t targets = 0;  ///< of a wait
  std::int32_t completion =
      -1;  ///< where the trace keeps when it completed; −1: it does when the rank goes on
  /// Of the first of several blocking collectives on a line between which a rank only computes: how many actions further
  /// the last of them is; else 0.
  std::int32_t stretch = 0;
  double amount = 0;  ///< seconds of compute, else bytes of the operation

  bool operator==(const Action&) const = default;
};

/// A communicator, or one direction of a pair, as the ranks of a role see it. Operations on a line keep their
/// order.
struct Line {
  Doing doing = Doing::collective;
  AxisSet axes = 0;
  std::int32_t peer = nothing;
  std::vector<std::int32_t> actions;  ///< those of one iteration, in order
  bool keeps_completions = false;     ///< of some of them
};

/// What a wait waits for: that `count` operations of this iteration on a line have completed.
struct Target {
  std::int32_t line = 0;
  std::int32_t count = 0;

  bool operator==(const Target&) const = default;
};

struct Role {
  SharedList<Action> actions;  ///< parallel to the execution order
  std::vector<Line> lines;
  SharedList<Target> targets;
  std::shared_ptr<const SharedTimes::Form>
      form;  ///< of the trace: one value for every boundary and completion

  /// The line of the collectives over `axes`, or -1.
  std::int32_t line_over(AxisSet axes) const;
};

/// Throws Unavailable where the program has an operation that is not simulated.
Role reduce(const Program& program, const ProcessGrid& grid);

/// Where the last role does what one of those before it does, with other peers, as the ranks of a lowered ring do, they have
/// one list of actions between them: what all ranks read then stays in the cache.
void share_actions(std::vector<Role>& roles);

}  // namespace dlnb::sim
