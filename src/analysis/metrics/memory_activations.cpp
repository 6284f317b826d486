// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return of_fullest_role(attribution, [](const Memory& memory) { return memory.activations; });
}

}  // namespace

extern constinit const MetricKind memory_activations{
    .name = "memory_activations",
    .unit = "B",
    .definition =
        "Bytes of activations at the worst moment of a step, on the rank that needs most memory_needed. "
        "Simulated runs only.",
    .measure = measure,
};

}  // namespace dlnb::metrics
