// SPDX-License-Identifier: Apache-2.0
#include "analysis/iteration_samples.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

Metric measure(const Attribution& attribution) {
  const Schedule& schedule = *attribution.schedule;
  std::vector<double> work(schedule.programs.size());
  for (std::size_t role = 0; role < work.size(); ++role)
    for (const Operation& operation : schedule.programs[role].operations)
      work[role] += operation.cost.work.value;
  double total = 0;
  for (std::int64_t rank = 0; rank < schedule.grid.ranks(); ++rank)
    total += work[std::size_t(schedule.role_of(rank))];
  return geometric_mean(rates(attribution, total / double(schedule.grid.ranks())));
}

}  // namespace

extern constinit const MetricKind achieved_compute_rate{
    .name = "achieved_compute_rate",
    .unit = "FLOP/s",
    .definition =
        "Floating-point operations that the compute phases stand for, summed over ranks, divided "
        "by ranks and by the iteration of the slowest rank; geometric mean over iterations. "
        "Compute is emulated by time, so this follows from the cost model and the communication, "
        "not from arithmetic that was done.",
    .measure = measure,
};

}  // namespace dlnb::metrics
