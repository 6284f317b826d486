// SPDX-License-Identifier: Apache-2.0
#include "analysis/analysis.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  std::vector<double> watts;
  for (const RankEnergy& rank : attribution.trace->energy)
    if (rank.seconds > 0) watts.push_back(rank.joules / rank.seconds);
  Metric metric = arithmetic_mean(watts);
  metric.definition = "Counted by: " + attribution.trace->energy_method + ".";
  return metric;
}

}  // namespace

extern constinit const MetricKind power{
    .name = "power",
    .unit = "W",
    .definition =
        "Power per rank: the energy of energy_per_iteration over all measured iterations / the time between "
        "the two "
        "readings of the counters; arithmetic mean over ranks.",
    .measure = measure,
};

}  // namespace dlnb::metrics
