// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  return of_fullest_role(attribution, [](const Memory& memory) { return memory.total(); });
}

}  // namespace

extern constinit const MetricKind memory_needed{
    .name = "memory_needed",
    .unit = "B",
    .definition =
        "Bytes that the rank with the most of them needs at the worst moment of a step: parameters, "
        "gradients, "
        "optimizer state, activations and buffers (docs/models/memory.md); low is the rank with the least. "
        "It "
        "fits where this is less than memory_capacity. "
        "What the driver, the communication library and the allocator take besides is not in it. "
        "Simulated runs only.",
    .measure = measure,
};

}  // namespace dlnb::metrics
