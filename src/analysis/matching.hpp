// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <dlnb/schedule.hpp>

namespace dlnb {

/// Index of an operation in the execution order of its program.
using OperationIndex = std::int32_t;

/// All collectives of one kind over one set of axes: the n-th on one member is the n-th on every other.
struct CollectiveChannel {
  OperationKind kind = OperationKind::barrier;
  AxisSet axes = 0;
  std::int64_t stride = 0;  ///< collectives per group (the most over roles)
  std::int64_t groups = 0;
  std::vector<std::int32_t> group_of;  ///< [rank], dense
};

/// The collectives of a program on one channel, in order.
struct MatchedCollectives {
  std::int32_t channel = 0;
  std::vector<OperationIndex> operations;
};

/// The messages of a program to or from one peer, in order.
struct MatchedMessages {
  int axis = 0;
  std::int32_t peer = 0;  ///< coordinate on the axis
  std::vector<OperationIndex> own;
  std::vector<std::vector<OperationIndex>> partner;  ///< [own coordinate on the axis][n-th]: the other side
};

/// What attribution looks at of an operation: a few bytes, where there are many.
struct Brief {
  OperationKind kind = OperationKind::compute;
  bool stands_still = false;  ///< moves data, and the rank waits for it
};

/// The program of one role in execution order, and what each operation belongs with.
struct MatchedProgram {
  std::vector<Operation> operations;
  std::vector<Brief> briefs;  ///< parallel to them
  std::vector<MatchedCollectives> collectives;
  std::vector<MatchedMessages> messages;
  std::vector<std::vector<OperationIndex>> waited;  ///< waits: the operations they finish
};

/// Which operations of a schedule belong together, worked out once per role and never per rank.
struct Matching {
  const Schedule* schedule = nullptr;
  std::vector<MatchedProgram> programs;  ///< by role
  std::vector<CollectiveChannel> channels;
  std::vector<std::int32_t> role_of;  ///< [rank]

  const MatchedProgram& program_of(std::int64_t rank) const { return programs[role_of[std::size_t(rank)]]; }
};

/// Aborts (our mistake) where a wait names nothing that was issued, or members of a group differ in how many
/// collectives they issue: the checker has let neither through.
Matching match(const Schedule& schedule);

}  // namespace dlnb
