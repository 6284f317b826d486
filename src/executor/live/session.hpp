// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>

#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>
#include <dlnb/trace.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/fault.hpp"
#include "executor/live/transport.hpp"

namespace dlnb {

/// What the ranks of one process share.
struct SessionOptions {
  /// Where the recorders are: the folder of whoever started the run and reads them after it. Empty: none did, so the
  /// ranks report themselves.
  std::filesystem::path folder;
  std::optional<Fault> fault;
  /// Called in one rank where the ranks report themselves: with what was measured before ranks were lost, or before the
  /// run was left in the middle of an iteration.
  std::function<void(const Trace&)> on_partial;
  bool ranks_are_threads = false;
  /// Set where the world has been ended: whoever sleeps wakes.
  std::atomic<bool>* over = nullptr;
};

/// A run without end is left when its iteration has not ended this long after the signal, seconds.
inline constexpr double patience_after_signal = 1.5;

/// One rank's whole run, from its end of the world to the trace on rank 0. Collective.
///
/// Throws UserError (too little memory, wrong number of ranks) and WrongResult (verification), the same on
/// every rank; LostRank where the watchdog released it.
std::optional<Trace> run_session(const Schedule& schedule, const RunSpec& spec, Transport& transport,
                                 Clock& clock, const SessionOptions& options = {});

}  // namespace dlnb
