// SPDX-License-Identifier: Apache-2.0
#include "analysis/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dlnb {

std::size_t nearest_rank(std::size_t count, double p) {
  // A little less than p·n, so that 0.95 · 20 = 19.000…02 is the 19th and not the 20th.
  const double rank = std::ceil(p * double(count) * (1 - 1e-12));
  return std::size_t(std::clamp(rank, 1.0, double(count))) - 1;
}

Spread spread_of(std::span<std::int64_t> samples) {
  if (samples.empty()) return {};
  Spread spread{.count = std::int64_t(samples.size())};
  const auto [min, max] = std::minmax_element(samples.begin(), samples.end());
  spread.min = seconds_of(double(*min));
  spread.max = seconds_of(double(*max));
  spread.mean = seconds_of(std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size()));
  auto sorted_until =
      samples.begin();  // percentiles ascend: each selects within what the last one left above it
  const auto percentile = [&](double p) {
    const auto place = samples.begin() + std::ptrdiff_t(nearest_rank(samples.size(), p));
    std::nth_element(sorted_until, place, samples.end());
    sorted_until = place;
    return seconds_of(double(*place));
  };
  spread.median = percentile(0.5);
  spread.p95 = percentile(0.95);
  spread.p99 = percentile(0.99);
  return spread;
}

std::int64_t median_of(std::span<std::int64_t> samples) {
  if (samples.empty()) return 0;
  const auto place = samples.begin() + std::ptrdiff_t(nearest_rank(samples.size(), 0.5));
  std::nth_element(samples.begin(), place, samples.end());
  return *place;
}

namespace {

Metric metric_of(std::span<const double> samples, double value) {
  const auto [low, high] = std::minmax_element(samples.begin(), samples.end());
  // Rounding may carry a mean of equal samples past them.
  return {.value = std::clamp(value, *low, *high),
          .count = std::int64_t(samples.size()),
          .low = *low,
          .high = *high};
}

}  // namespace

Metric arithmetic_mean(std::span<const double> samples) {
  if (samples.empty()) return {};
  return metric_of(samples, std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size()));
}

Metric geometric_mean(std::span<const double> samples) {
  if (samples.empty()) return {};
  // Relative to the first: logarithms of near equal samples are small and lose nothing.
  double logarithms = 0;
  for (const double sample : samples) logarithms += std::log(sample / samples.front());
  return metric_of(samples, samples.front() * std::exp(logarithms / double(samples.size())));
}

}  // namespace dlnb
