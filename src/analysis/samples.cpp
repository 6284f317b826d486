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

void CountedSamples::replace(Run& run, std::int64_t value) {
  if (run.count > 0) {
    if (runs_.size() == limit_) {
      sort();
      limit_ = std::max(limit_, runs_.size() + runs_.size() / 4);
      runs_.reserve(limit_);
    }
    runs_.push_back(run);
  }
  run = {value, 0};
}

void CountedSamples::sort() {
  const auto ascending = [](const Run& a, const Run& b) { return a.value < b.value; };
  const auto middle = runs_.begin() + std::ptrdiff_t(sorted_);
  std::sort(middle, runs_.end(), ascending);
  std::inplace_merge(runs_.begin(), middle, runs_.end(), ascending);
  std::size_t kept = 0;
  for (const Run& run : runs_) {
    if (kept > 0 && runs_[kept - 1].value == run.value) runs_[kept - 1].count += run.count;
    else runs_[kept++] = run;
  }
  runs_.resize(kept);
  sorted_ = kept;
}

const std::vector<CountedSamples::Run>& CountedSamples::runs() {
  for (Run& run : recent_) {
    if (run.count > 0) runs_.push_back(run);
    run = {};
  }
  sort();
  return runs_;
}

Spread CountedSamples::spread() {
  const std::vector<Run>& all = runs();
  if (all.empty()) return {};
  Spread spread;
  double sum = 0;
  for (const Run& run : all) {
    spread.count += run.count;
    sum += double(run.value) * double(run.count);
  }
  spread.min = seconds_of(double(all.front().value));
  spread.max = seconds_of(double(all.back().value));
  spread.mean = seconds_of(sum / double(spread.count));
  const auto percentile = [&](double p) {
    std::size_t before = nearest_rank(std::size_t(spread.count), p);
    auto run = all.begin();
    for (; before >= std::size_t(run->count); ++run) before -= std::size_t(run->count);
    return seconds_of(double(run->value));
  };
  spread.median = percentile(0.5);
  spread.p95 = percentile(0.95);
  spread.p99 = percentile(0.99);
  return spread;
}

std::int64_t CountedSamples::median() {
  std::int64_t count = 0;
  for (const Run& run : runs()) count += run.count;
  if (count == 0) return 0;
  std::size_t before = nearest_rank(std::size_t(count), 0.5);
  auto run = runs_.begin();
  for (; before >= std::size_t(run->count); ++run) before -= std::size_t(run->count);
  return run->value;
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
