// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
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

/// Samples of which many are equal, as durations of ranks in step are: each value is kept once, with how often it occurred.
class CountedSamples {
 public:
  void add(std::int64_t value, std::int64_t count = 1) {
    Run& run = recent_[std::uint64_t(value) * 0x9e3779b97f4a7c15 >> (64 - recent_bits)];
    if (run.value != value || run.count == 0) replace(run, value);
    run.count += count;
  }
  /// Of nanoseconds, in seconds.
  Spread spread();
  /// Nearest-rank median; 0 of nothing.
  std::int64_t median();

 private:
  static constexpr int recent_bits = 3;
  struct Run {
    std::int64_t value = 0, count = 0;
  };

  void replace(Run& run, std::int64_t value);
  /// Ascending, every value once.
  const std::vector<Run>& runs();
  void sort();

  std::array<Run, std::size_t{1} << recent_bits> recent_{};
  std::vector<Run> runs_;
  std::size_t sorted_ = 0, limit_ = 1024;
};

/// Nearest-rank median; 0 of nothing. Reorders the samples.
std::int64_t median_of(std::span<std::int64_t> samples);

/// Value, count, low and high of samples; count 0 (the metric does not apply) where there are none.
Metric arithmetic_mean(std::span<const double> samples);
Metric geometric_mean(std::span<const double> samples);

}  // namespace dlnb
