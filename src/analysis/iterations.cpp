// SPDX-License-Identifier: Apache-2.0
#include "analysis/iterations.hpp"

#include <algorithm>

#include "analysis/attribution.hpp"
#include "analysis/samples.hpp"

namespace dlnb {

std::vector<IterationRow> iteration_rows(const Attribution& attribution) {
  std::vector<IterationRow> rows;
  for (int iteration = 0; iteration < attribution.trace->iterations; ++iteration) {
    const auto of = [&](std::size_t rank) { return attribution.of[rank][std::size_t(iteration)]; };
    const Breakdown slowest = of(slowest_rank(attribution, iteration));
    rows.push_back(
        {.iteration = iteration,
         .time = seconds_of(double(slowest.time)),
         .communication_fraction = synchronising_share(of(most_synchronising_rank(attribution, iteration))),
         .slowest = slowest});
  }
  return rows;
}

int median_iteration(const std::vector<IterationRow>& rows) {
  if (rows.empty()) return 0;
  std::vector<std::int64_t> times;
  for (const IterationRow& row : rows) times.push_back(row.slowest.time);
  const std::int64_t median = median_of(times);
  return std::ranges::find(rows, median, [](const IterationRow& row) { return row.slowest.time; })->iteration;
}

}  // namespace dlnb
