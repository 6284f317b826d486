// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analysis/iteration_samples.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  if (attribution.of.empty()) return {};
  return arithmetic_mean(per_iteration(attribution, [&](int iteration) {
    double sum = 0, longest = 0;
    for (const auto& rank : attribution.of) {
      const double compute = double(rank[std::size_t(iteration)].compute);
      sum += compute;
      longest = std::max(longest, compute);
    }
    return sum == 0 ? 1 : longest * double(attribution.of.size()) / sum;
  }));
}

}  // namespace

extern constinit const MetricKind compute_imbalance{
    .name = "compute_imbalance",
    .unit = "1",
    .definition =
        "Longest compute time over ranks divided by the mean over ranks; 1 is balanced. "
        "Arithmetic mean over iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
