// SPDX-License-Identifier: Apache-2.0
// What the watchdog and the process that starts the ranks need of a job whose ranks may be lost: a schedule's run or a
// collective benchmark.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "executor/live/diagnosis.hpp"
#include "executor/live/live.hpp"
#include "executor/live/recorder.hpp"

namespace dlnb {

/// `folder` is where the flight recorders are.
struct Inquiry {
  std::string name;  ///< of the command, where an error is reported
  std::int64_t ranks = 0;
  /// As `diagnose` and `waited_for` of diagnosis.hpp.
  std::function<Diagnosis(const std::filesystem::path& folder, std::span<const RankState>,
                          const std::vector<std::int64_t>& ended)>
      diagnose;
  std::function<std::vector<std::int64_t>(const std::filesystem::path& folder, std::span<const RankState>,
                                          const std::vector<std::int64_t>& among)>
      waited_for;
  /// Writes what was measured before the loss; empty: nothing is kept.
  std::function<void(const std::filesystem::path& folder, const std::vector<Record>&, const Diagnosis&)> keep;
  /// The same where a run without end was left in the middle of an iteration; returns whether it is valid. Empty where
  /// nothing runs without end.
  std::function<bool(const std::vector<Record>&, int signal)> keep_after_signal;
};

/// Of a run. Schedule and spec must outlive it.
Inquiry inquiry_of(const Schedule& schedule, const RunSpec& spec, const OnPartial& on_partial);

/// Keeps what was measured; where that fails it is only said, for the loss is what is reported.
void keep_what_was_measured(const Inquiry& inquiry, const std::filesystem::path& folder,
                            const Diagnosis& diagnosis);

/// Of a world of threads that was ended, in the process that outlives it. Throws LostRank where a rank has left a
/// diagnosis.
void report_lost_threads(const Inquiry& inquiry, const std::filesystem::path& folder);

}  // namespace dlnb
