// SPDX-License-Identifier: Apache-2.0
// What the files in metrics/ share.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/analysis.hpp"

namespace dlnb {

/// One sample per iteration.
std::vector<double> per_iteration(const Attribution& attribution, const std::function<double(int)>& sample);

/// Seconds of the slowest rank, per iteration.
std::vector<double> slowest_seconds(const Attribution& attribution);

/// `amount` / seconds of the slowest rank, per iteration; none where an iteration took no time (an empty
/// schedule).
std::vector<double> rates(const Attribution& attribution, double amount);

/// Mean seconds of one part of the iteration on the rank whose share of synchronisation is largest.
Metric part_of_iteration(const Attribution& attribution, std::int64_t Breakdown::* part);

}  // namespace dlnb
