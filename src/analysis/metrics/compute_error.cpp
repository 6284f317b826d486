// SPDX-License-Identifier: Apache-2.0
#include "analysis/analysis.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  if (attribution.trace->executor == "sim") return {};  // exact by construction
  std::vector<double> errors;
  for (const RankTrace& rank : attribution.trace->ranks) errors.push_back(rank.compute_error);
  return arithmetic_mean(errors);
}

}  // namespace

extern constinit const MetricKind compute_error{
    .name = "compute_error",
    .unit = "1",
    .definition =
        "Relative error of the emulated compute phases of a live run, |measured - asked| / asked, "
        "averaged over the phases of a rank; arithmetic mean over ranks. Over 0.01 and 2 us a run is "
        "INVALID. Where ranks share cores it is how late ranks went on, which counts as transfer.",
    .measure = measure,
};

}  // namespace dlnb::metrics
