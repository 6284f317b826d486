// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <dlnb/result.hpp>
#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>

namespace dlnb {

/// RunSpec → Schedule, for `schedule print|check|ledger` and as the first half of both runs.
Schedule make_schedule(const RunSpec& spec);

/// The whole line, simulated.
Result simulate(const RunSpec& spec);

/// The whole line, live; called on every rank, a result on rank 0 only.
std::optional<Result> run(const RunSpec& spec);

}  // namespace dlnb
