// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <dlnb/metrics.hpp>

namespace dlnb {

/// Division, not multiplication by 1e-9: it rounds once, so that 1.2 s prints as 1.2.
constexpr double seconds_of(double nanoseconds) { return nanoseconds / 1e9; }

/// Nearest-rank percentile: the ⌈p·n⌉-th smallest of n samples (at least the first), always a sample itself.
/// Its index from 0; `count` > 0, 0 ≤ p ≤ 1.
std::size_t nearest_rank(std::size_t count, double p);

/// Spread of nanoseconds, in seconds. Reorders the samples.
Spread spread_of(std::span<std::int64_t> nanoseconds);
/// Nearest-rank median; 0 of nothing. Reorders the samples.
std::int64_t median_of(std::span<std::int64_t> samples);

/// Value, count, low and high of samples; count 0 (the metric does not apply) where there are none.
Metric arithmetic_mean(std::span<const double> samples);
Metric geometric_mean(std::span<const double> samples);

}  // namespace dlnb
