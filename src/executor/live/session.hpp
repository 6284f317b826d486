// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>
#include <dlnb/trace.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/live.hpp"
#include "executor/live/rank_options.hpp"
#include "executor/live/transport.hpp"

namespace dlnb {

/// What the ranks of one process share.
struct SessionOptions : RankOptions {
  /// Called in one rank where the ranks report themselves: with what was measured before ranks were lost, or before the
  /// run was left in the middle of an iteration.
  OnPartial on_partial;
};

/// One rank's whole run, from its end of the world to the trace on rank 0. Collective.
///
/// Throws UserError (too little memory, wrong number of ranks) and WrongResult (verification), the same on
/// every rank; LostRank where the watchdog released it.
std::optional<Trace> run_session(const Schedule& schedule, const RunSpec& spec, Transport& transport,
                                 Clock& clock, const SessionOptions& options = {});

}  // namespace dlnb
