// SPDX-License-Identifier: Apache-2.0
// What the flight recorders of a run that was not finished still tell.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>
#include <dlnb/trace.hpp>

#include "executor/live/diagnosis.hpp"
#include "executor/live/recorder.hpp"

namespace dlnb {

/// The iterations that all ranks have completed, on one clock; none where a rank's record is out of reach.
Trace salvage(const RunSpec& spec, const std::vector<Record>& records, std::int64_t ranks);

/// The same of a run that lost ranks: INVALID, and the notes say why.
Trace salvage_after_loss(const RunSpec& spec, const std::vector<Record>& records, std::int64_t ranks,
                         const Diagnosis& diagnosis);

/// The same of a run without end that was left in the middle of an iteration after this signal.
Trace salvage_after_signal(const RunSpec& spec, const std::vector<Record>& records, std::int64_t ranks,
                           int signal);

/// A run without end is left when its iteration has not ended this long after the signal, seconds.
inline constexpr double patience_after_signal = 1.5;

/// What is said of a run that a second signal ends.
inline constexpr std::string_view ended_at_once = "ended at once by a second signal";

/// "SIGTERM"
std::string signal_name(int signal);

/// A rank that has found who is missing leaves it for the process that started the run; the first to do so wins.
void leave_diagnosis(const std::filesystem::path& folder, const Diagnosis& diagnosis);
std::optional<Diagnosis> left_diagnosis(const std::filesystem::path& folder);

/// Rows of all ranks' series, each of the slowest rank.
std::vector<SeriesRow> merged(std::vector<Series> ranks);

}  // namespace dlnb
