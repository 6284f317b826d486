// SPDX-License-Identifier: Apache-2.0
#include "analysis/analysis.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  const Trace& trace = *attribution.trace;
  if (trace.iterations == 0) return {};
  std::vector<double> joules;
  for (const RankEnergy& rank : trace.energy) joules.push_back(rank.joules / trace.iterations);
  Metric metric = arithmetic_mean(joules);
  metric.definition = "Counted by: " + trace.energy_method + ".";
  return metric;
}

}  // namespace

extern constinit const MetricKind energy_per_iteration{
    .name = "energy_per_iteration",
    .unit = "J",
    .definition =
        "Energy per rank and iteration: what the counters of its machine counted from before the first "
        "measured "
        "iteration to behind the last, processors and memory shared evenly among the machine's ranks, an "
        "accelerator "
        "among those that work on it; arithmetic mean over ranks. What else runs on the machine is in it.",
    .measure = measure,
};

}  // namespace dlnb::metrics
