// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/metrics.hpp>
#include <dlnb/registry.hpp>
#include <dlnb/schedule.hpp>
#include <dlnb/trace.hpp>

namespace dlnb {

/// The trace after attribution: where every rank's every iteration went.
struct Attribution {
  const Schedule* schedule = nullptr;
  const Trace* trace = nullptr;
  std::vector<std::vector<Breakdown>> of;  ///< [rank][iteration]
};

/// One named metric. One file each in metrics/.
struct MetricKind {
  std::string_view name;
  std::string_view unit;
  std::string_view definition;
  Metric (*measure)(const Attribution&);  ///< fills value, count, low, high
};
namespace metrics {
Registry<MetricKind> all();
}

Metrics analyse(const Trace& trace, const Schedule& schedule);

}  // namespace dlnb
