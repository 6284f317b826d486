// SPDX-License-Identifier: Apache-2.0
#include "analysis/memory.hpp"

#include <algorithm>

namespace dlnb {

Metric of_fullest_role(const Attribution& attribution, double (*part)(const Memory&)) {
  if (attribution.trace->executor != "sim") return {};
  const std::vector<Program>& programs = attribution.schedule->programs;
  const auto total = [](const Program& program) { return program.memory.total(); };
  const Memory& fullest = std::ranges::max_element(programs, {}, total)->memory;
  if (fullest.total() == 0) return {};
  Metric metric{.value = part(fullest), .count = std::int64_t(programs.size())};
  metric.low = metric.high = metric.value;
  for (const Program& program : programs) {
    metric.low = std::min(metric.low, part(program.memory));
    metric.high = std::max(metric.high, part(program.memory));
  }
  return metric;
}

}  // namespace dlnb
