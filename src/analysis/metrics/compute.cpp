// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) { return part_of_iteration(attribution, &Breakdown::compute); }

}  // namespace

extern constinit const MetricKind compute{
    .name = "compute",
    .unit = "s",
    .definition =
        "Time per iteration not spent in blocking communication or in waits: compute, and all "
        "else the host does. Taken in every iteration on the rank with the largest share of "
        "communication, so that compute, transfer, straggler_wait and pipeline_bubble add up to "
        "that rank's iteration; arithmetic mean over iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
