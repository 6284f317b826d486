// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return part_of_iteration(attribution, &Breakdown::pipeline_bubble);
}

}  // namespace

extern constinit const MetricKind pipeline_bubble{
    .name = "pipeline_bubble",
    .unit = "s",
    .definition =
        "Exposed time per iteration in which a rank waited to receive what its sender had not yet "
        "posted. Taken in every iteration on the rank with the largest share of communication, so "
        "that compute, transfer, straggler_wait and pipeline_bubble add up to that rank's "
        "iteration; arithmetic mean over iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
