// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return of_fullest_role(attribution, [](const Memory& memory) { return memory.optimizer; });
}

}  // namespace

extern constinit const MetricKind memory_optimizer{
    .name = "memory_optimizer",
    .unit = "B",
    .definition =
        "Bytes of 32-bit master weights and Adam moments a rank keeps, on the rank that needs most "
        "memory_needed. Simulated runs only.",
    .measure = measure,
};

}  // namespace dlnb::metrics
