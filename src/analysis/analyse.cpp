// SPDX-License-Identifier: Apache-2.0
#include "analysis/analysis.hpp"
#include "analysis/attribution.hpp"
#include "analysis/iterations.hpp"
#include "analysis/operations.hpp"
#include "analysis/timeline.hpp"

namespace dlnb {

Metrics analyse(const Trace& trace, const Schedule& schedule) {
  const Matching matching = match(schedule);
  Arrivals arrivals(matching, trace);
  OperationTallies tallies(matching, trace.iterations);
  const Attribution attribution = attribute(schedule, trace, arrivals, tallies);

  Metrics result;
  for (const MetricKind* kind : metrics::all()) {
    Metric metric = kind->measure(attribution);
    if (metric.count == 0) continue;
    metric.name = kind->name, metric.unit = kind->unit;
    // What a metric adds is about this trace, such as the method behind it.
    const std::string added = metric.definition.empty() ? "" : " " + metric.definition;
    metric.definition = std::string(kind->definition) + added;
    result.named.push_back(std::move(metric));
  }
  result.operations = tallies.rows();
  result.iterations = iteration_rows(attribution);
  if (trace.iterations == 0) return result;

  result.timeline_iteration = median_iteration(result.iterations);
  Timeline timeline = timeline_of(trace, arrivals, result.timeline_iteration);
  result.timeline = std::move(timeline.ranks);
  result.timeline_truncated = timeline.truncated;
  for (IterationRow& row : result.iterations) row.iteration += int(trace.first_iteration);
  result.timeline_iteration += int(trace.first_iteration);
  return result;
}

}  // namespace dlnb
