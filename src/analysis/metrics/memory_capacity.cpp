// SPDX-License-Identifier: Apache-2.0
#include "analysis/analysis.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  const double capacity = double(attribution.schedule->device_memory);
  if (attribution.trace->executor != "sim" || capacity == 0) return {};
  return {.value = capacity, .count = 1, .low = capacity, .high = capacity};
}

}  // namespace

extern constinit const MetricKind memory_capacity{
    .name = "memory_capacity",
    .unit = "B",
    .definition = "Bytes of memory of the device, as its file says. Simulated runs only.",
    .measure = measure,
};

}  // namespace dlnb::metrics
