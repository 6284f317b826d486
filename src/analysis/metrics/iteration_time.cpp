// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) { return arithmetic_mean(slowest_seconds(attribution)); }

}  // namespace

extern constinit const MetricKind iteration_time{
    .name = "iteration_time",
    .unit = "s",
    .definition =
        "Time of the slowest rank from the begin to the end of an iteration; arithmetic mean over "
        "iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
