// SPDX-License-Identifier: Apache-2.0
// What another program does with the installed library: ask, compile the schedule, simulate, read a metric.
#include <cstdio>

#include <dlnb/error.hpp>
#include <dlnb/run.hpp>

int main() try {
  const dlnb::RunSpec spec = dlnb::read_spec({}, dlnb::make_overrides({{"model", "only-here", "main"},
                                                                       {"machine", "leonardo", "main"},
                                                                       {"plan", "dp", "main"},
                                                                       {"ranks", "4", "main"}}));
  const dlnb::Schedule schedule = dlnb::make_schedule(spec);
  const dlnb::Result result = dlnb::simulate(spec);

  double seconds = 0;
  for (const dlnb::Metric& metric : result.metrics.named)
    if (metric.name == "iteration_time") seconds = metric.value;
  std::printf("%s on %lld ranks: %zu operations, iteration %.6f s\n", schedule.model.c_str(),
              static_cast<long long>(schedule.grid.ranks()), schedule.programs.at(0).operations.size(),
              seconds);
} catch (const dlnb::Error& error) {
  std::fprintf(stderr, "%s\n%s\n", error.what(), error.hint().c_str());
  return static_cast<int>(error.exit());
}
