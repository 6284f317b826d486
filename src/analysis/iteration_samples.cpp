// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"

#include <algorithm>

#include "analysis/attribution.hpp"
#include "analysis/samples.hpp"

namespace dlnb {

std::vector<double> per_iteration(const Attribution& attribution, const std::function<double(int)>& sample) {
  std::vector<double> samples;
  for (int iteration = 0; iteration < attribution.trace->iterations; ++iteration)
    samples.push_back(sample(iteration));
  return samples;
}

std::vector<double> slowest_seconds(const Attribution& attribution) {
  return per_iteration(attribution, [&](int iteration) {
    return seconds_of(
        double(attribution.of[slowest_rank(attribution, iteration)][std::size_t(iteration)].time));
  });
}

std::vector<double> rates(const Attribution& attribution, double amount) {
  std::vector<double> samples = slowest_seconds(attribution);
  if (amount <= 0 || std::ranges::find(samples, 0.0) != samples.end()) return {};
  for (double& sample : samples) sample = amount / sample;
  return samples;
}

Metric part_of_iteration(const Attribution& attribution, std::int64_t Breakdown::* part) {
  return arithmetic_mean(per_iteration(attribution, [&](int iteration) {
    const std::size_t rank = most_synchronising_rank(attribution, iteration);
    return seconds_of(double(attribution.of[rank][std::size_t(iteration)].*part));
  }));
}

}  // namespace dlnb
