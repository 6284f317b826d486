// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return of_fullest_role(attribution, [](const Memory& memory) { return memory.buffers; });
}

}  // namespace

extern constinit const MetricKind memory_buffers{
    .name = "memory_buffers",
    .unit = "B",
    .definition =
        "Bytes of gathered sharding units and of gradients that are whole for a while, on the rank that "
        "needs most memory_needed. Simulated runs only.",
    .measure = measure,
};

}  // namespace dlnb::metrics
