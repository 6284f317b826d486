// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return part_of_iteration(attribution, &Breakdown::transfer);
}

}  // namespace

extern constinit const MetricKind transfer{
    .name = "transfer",
    .unit = "s",
    .definition =
        "Exposed time per iteration in which a rank stood still while data moved that it waited "
        "for. Taken in every iteration on the rank with the largest share of communication, so "
        "that compute, transfer, straggler_wait and pipeline_bubble add up to that rank's "
        "iteration; arithmetic mean over iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
