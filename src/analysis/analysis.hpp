// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

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
  std::string_view unit;        ///< "s", "samples/s", …; "1" for a ratio
  std::string_view definition;  ///< whole sentences for a reader of the result
  /// Fills value, count, low, high; count 0 where the metric does not apply to this schedule or trace. May say in
  /// `definition` what a reader needs to know besides, as a sentence.
  Metric (*measure)(const Attribution&);
};
namespace metrics {
Registry<MetricKind> all();
}

/// Everything a result says about a trace. The schedule is the one that was executed; a trace that does not
/// fit it is our mistake and aborts. Of a trace without iterations there are no metrics.
Metrics analyse(const Trace& trace, const Schedule& schedule);

/// What running beside other jobs cost, from the iterations of one job alone and together with them.
Slowdown slowdown(const std::vector<IterationRow>& alone, const std::vector<IterationRow>& together);

}  // namespace dlnb
