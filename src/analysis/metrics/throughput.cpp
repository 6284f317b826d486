// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return geometric_mean(rates(attribution, double(attribution.schedule->global_batch)));
}

}  // namespace

extern constinit const MetricKind throughput{
    .name = "throughput",
    .unit = "samples/s",
    .definition =
        "Global batch (samples per replica times replicas) divided by the iteration of the "
        "slowest rank; geometric mean over iterations.",
    .measure = measure,
};

}  // namespace dlnb::metrics
