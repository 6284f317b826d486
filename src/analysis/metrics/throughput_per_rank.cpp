// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  const Schedule& schedule = *attribution.schedule;
  return geometric_mean(rates(attribution, double(schedule.global_batch) / double(schedule.grid.ranks())));
}

}  // namespace

extern constinit const MetricKind throughput_per_rank{
    .name = "throughput_per_rank",
    .unit = "samples/s",
    .definition = "Throughput divided by the number of ranks; geometric mean over iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
