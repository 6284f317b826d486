// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  const Schedule& schedule = *attribution.schedule;
  if (schedule.sequence <= 1) return {};  // samples without tokens
  const double tokens = double(schedule.global_batch) * double(schedule.sequence);
  return geometric_mean(rates(attribution, tokens / double(schedule.grid.ranks())));
}

}  // namespace

extern constinit const MetricKind tokens_per_second_per_rank{
    .name = "tokens_per_second_per_rank",
    .unit = "tokens/s",
    .definition = "Tokens per second divided by the number of ranks; geometric mean over iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
