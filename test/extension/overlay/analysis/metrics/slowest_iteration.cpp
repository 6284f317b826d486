// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  Metric metric = arithmetic_mean(slowest_seconds(attribution));
  metric.value = metric.high;
  return metric;
}

}  // namespace

extern constinit const MetricKind slowest_iteration{
    .name = "slowest_iteration",
    .unit = "s",
    .definition = "Time of the slowest rank in the longest iteration.",
    .measure = measure,
};

}  // namespace dlnb::metrics
