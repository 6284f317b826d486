// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return part_of_iteration(attribution, &Breakdown::straggler_wait);
}

}  // namespace

extern constinit const MetricKind straggler_wait{
    .name = "straggler_wait",
    .unit = "s",
    .definition =
        "Exposed time per iteration from a rank's own arrival at an operation to the arrival of "
        "the last participant. Taken in every iteration on the rank with the largest share of "
        "communication, so that compute, transfer, straggler_wait and pipeline_bubble add up to "
        "that rank's iteration; arithmetic mean over iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
