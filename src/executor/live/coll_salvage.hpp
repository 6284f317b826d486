// SPDX-License-Identifier: Apache-2.0
// What the flight recorders and the log of a benchmark that lost a rank still tell.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <dlnb/coll.hpp>

#include "executor/live/coll_case.hpp"
#include "executor/live/diagnosis.hpp"
#include "executor/live/inquiry.hpp"
#include "executor/live/live.hpp"

namespace dlnb {

/// The parts of a row, in order. A recorder's `iteration` is `row · coll_phases + phase`, its place the row while its
/// operations are carried out (`rows + Beyond` in what ranks agree on besides), and its beats count the operations that
/// have been begun in this phase.
enum class CollPhase : int { verify_before, warm_up, measure, overlap, verify_after };
inline constexpr int coll_phases = int(CollPhase::verify_after) + 1;

/// Who keeps the others waiting: whoever has ended or is stopped, else who has not come to the operation that members
/// of its group wait in and does not wait itself. `ended` names ranks that are known to have ended first.
Diagnosis diagnose_coll(const CollSpec& spec, const std::vector<CollCase>& cases,
                        std::span<const RankState> states, const std::vector<std::int64_t>& ended = {});

/// The rows that were measured, with why there are no more.
CollTable salvage_coll(const CollSpec& spec, const std::filesystem::path& folder, const Diagnosis& diagnosis);

/// `on_partial` may be empty.
Inquiry inquiry_of(const CollSpec& spec, const OnPartialTable& on_partial);

}  // namespace dlnb
