// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return of_fullest_role(attribution, [](const Memory& memory) { return memory.parameters; });
}

}  // namespace

extern constinit const MetricKind memory_parameters{
    .name = "memory_parameters",
    .unit = "B",
    .definition =
        "Bytes of the parameters a rank keeps, on the rank that needs most memory_needed. Simulated runs "
        "only.",
    .measure = measure,
};

}  // namespace dlnb::metrics
