// SPDX-License-Identifier: Apache-2.0
// Slowdown of a job beside others.
//   σ = geometric mean of iteration times together / geometric mean of those alone
//   95 % interval: σ · exp(± 1.96 · sqrt(s₁²/n₁ + s₂²/n₂)), s² the variances of log times over n iterations
// The interval takes iterations as independent; neighbouring iterations of a live run are not quite.
// Source of the metric: DLNetBench paper, Section IV-B2 (baseline throughput / concurrent throughput).
#include <cmath>

#include <dlnb/error.hpp>

#include "analysis/analysis.hpp"

namespace dlnb {
namespace {

struct LogTimes {
  double mean = 0, variance = 0;
  std::int64_t count = 0;

  double variance_of_mean() const { return variance / double(count); }
};

LogTimes log_times(const std::vector<IterationRow>& iterations) {
  LogTimes times{.count = std::int64_t(iterations.size())};
  for (const IterationRow& row : iterations) times.mean += std::log(row.time) / double(times.count);
  if (times.count < 2) return times;
  for (const IterationRow& row : iterations) {
    const double off = std::log(row.time) - times.mean;
    times.variance += off * off / double(times.count - 1);
  }
  return times;
}

Breakdown mean_of(const std::vector<IterationRow>& iterations) {
  Breakdown sum;
  for (const IterationRow& row : iterations) {
    sum.time += row.slowest.time;
    sum.compute += row.slowest.compute;
    sum.transfer += row.slowest.transfer;
    sum.straggler_wait += row.slowest.straggler_wait;
    sum.pipeline_bubble += row.slowest.pipeline_bubble;
  }
  const auto count = std::int64_t(iterations.size());
  return {sum.time / count, sum.compute / count, sum.transfer / count, sum.straggler_wait / count,
          sum.pipeline_bubble / count};
}

}  // namespace

Slowdown slowdown(const std::vector<IterationRow>& alone, const std::vector<IterationRow>& together) {
  DLNB_REQUIRE(!alone.empty() && !together.empty(), "a slowdown compares measured iterations");
  const LogTimes before = log_times(alone), after = log_times(together);
  const double margin = 1.96 * std::sqrt(before.variance_of_mean() + after.variance_of_mean());
  const double ratio = std::exp(after.mean - before.mean);
  const Breakdown was = mean_of(alone), is = mean_of(together);
  return {{.name = "slowdown",
           .unit = "1",
           .value = ratio,
           .count = after.count,
           .low = ratio * std::exp(-margin),
           .high = ratio * std::exp(margin),
           .definition =
               "Geometric mean of iteration times beside the other jobs, divided by that of the same job "
               "alone at the same place; low and high are a 95 % confidence interval."},
          std::exp(before.mean),
          std::exp(after.mean),
          {is.time - was.time, is.compute - was.compute, is.transfer - was.transfer,
           is.straggler_wait - was.straggler_wait, is.pipeline_bubble - was.pipeline_bubble}};
}

}  // namespace dlnb
