// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  const Schedule& schedule = *attribution.schedule;
  if (schedule.sequence <= 1) return {};  // samples without tokens
  return geometric_mean(rates(attribution, double(schedule.global_batch) * double(schedule.sequence)));
}

}  // namespace

extern constinit const MetricKind tokens_per_second{
    .name = "tokens_per_second",
    .unit = "tokens/s",
    .definition =
        "Global batch times tokens per sample, divided by the iteration of the slowest rank; "
        "geometric mean over iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
