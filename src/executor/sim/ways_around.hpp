// SPDX-License-Identifier: Apache-2.0
// Adaptive routes beside other jobs. A path over links that other jobs use gets a second one, found by the same rules (see
// Router) with what the others take of every link lying on it beforehand:
//   taken of a link by a job = Σ over its operations of weight · bytes of the reference flow / (capacity · iteration)
//   iteration                = the longest of its roles: what it computes, and what it alone waits for collectives
// so that parts of flows go round where the mean of all would queue. Which of its two paths an operation takes is decided when
// its data begins to flow, by what is asked of their links then, and kept (Flows::less_asked). So some go the short way and
// others around, as many as make both ask for alike. Alone a job has the first path only, and the second is never faster than
// the first is alone. What the second paths of all take together is not known when they are found; they are found once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <dlnb/machine.hpp>

#include "executor/sim/flows.hpp"
#include "executor/sim/lines.hpp"
#include "executor/sim/path_table.hpp"
#include "executor/sim/program.hpp"
#include "executor/sim/selection.hpp"

namespace dlnb::sim {

/// How a path was found; of a pair the choice says nothing.
struct Found {
  OperationKind kind = OperationKind::send;
  Choice choice;
};

/// Everything that is to run on a machine.
struct AllRuns {
  const std::vector<Role>& roles;
  const Lines& lines;
  std::span<const std::int32_t> job_of_runner;
  const Machine& machine;
  const Capacities& capacities;
};

/// `found`: by path of the table.
void add_ways_around(PathTable& table, const std::vector<Found>& found, const AllRuns& runs,
                     const Placement& placement);

}  // namespace dlnb::sim
