// SPDX-License-Identifier: Apache-2.0
#include "analysis/attribution.hpp"
#include "analysis/iteration_samples.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return arithmetic_mean(per_iteration(attribution, [&](int iteration) {
    const std::size_t rank = most_synchronising_rank(attribution, iteration);
    return synchronising_share(attribution.of[rank][std::size_t(iteration)]);
  }));
}

}  // namespace

extern constinit const MetricKind communication_fraction{
    .name = "communication_fraction",
    .unit = "1",
    .definition =
        "Time a rank spends in blocking communication and in waits, divided by its iteration; the "
        "largest over ranks, then the arithmetic mean over iterations. It counts the pipeline "
        "bubble and waiting for stragglers: transfer, straggler_wait and pipeline_bubble are its "
        "parts.",
    .measure = measure,
};

}  // namespace dlnb::metrics
