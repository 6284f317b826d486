// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>
#include <dlnb/trace.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/transport.hpp"

namespace dlnb {

/// One rank's whole run, from its end of the world to the trace on rank 0. Collective.
///
/// Throws UserError (too little memory, wrong number of ranks) and WrongResult (verification), the same on
/// every rank; LostRank where the watchdog released it.
std::optional<Trace> run_session(const Schedule& schedule, const RunSpec& spec, Transport& transport,
                                 Clock& clock);

}  // namespace dlnb
