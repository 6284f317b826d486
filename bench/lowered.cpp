// SPDX-License-Identifier: Apache-2.0
// lowered [ranks] [MiB] [algorithm] [times]: an all-reduce as messages, simulated. Prints where the CPU time goes (lowering, the
// simulator from schedule to trace, ranks that are alike simulated once and one by one) and how many operations per second
// that is: what a rank issues, as other simulators of schedules count them, a send and a receive for each message; waits are
// not counted.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <numeric>

#include <dlnb/collective.hpp>
#include <dlnb/schedule.hpp>

#include "executor/sim/sim.hpp"
#include "machine/machine.hpp"
#include "schedule/schedule.hpp"

namespace {

using namespace dlnb;

constexpr double least_measured = 0.5;  // seconds of CPU time

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

/// Devices on a switch of 25 GB/s per port and direction.
Machine machine_of(int ranks, const char* algorithm) {
  Machine machine;
  machine.name = "switch";
  machine.devices_per_node = ranks;
  machine.node_fabric =
      entry_called(topologies::all(), "switch", "topology")
          .build(parse_toml("capacity = '25 GB/s'\nswitch_latency = '1 us'\n", "switch"), ranks);
  machine.software.forced = algorithm;
  return machine;
}

double end_of(const Trace& trace) {
  std::int64_t end = 0;
  for (const RankTrace& rank : trace.ranks)
    end = std::max(end, rank.end_of(std::size_t(trace.iterations) - 1));
  return double(end) * 1e-9;
}

}  // namespace

int main(int count, char** words) {
  const int ranks = count > 1 ? std::atoi(words[1]) : 1024;
  const std::int64_t bytes = (count > 2 ? std::atoll(words[2]) : 64) << 20;
  const char* algorithm = count > 3 ? words[3] : "ring";
  const int times = count > 4 ? std::atoi(words[4]) : 1;

  const Machine machine = machine_of(ranks, algorithm);
  Placement placement(static_cast<std::size_t>(ranks));
  std::iota(placement.begin(), placement.end(), 0);
  Schedule schedule;
  schedule.grid = ProcessGrid({{"data", ranks}});
  schedule.programs.resize(1);
  Operation all_reduce;
  all_reduce.kind = OperationKind::all_reduce;
  all_reduce.axes = 1;
  all_reduce.dtype = DataType::float8;
  all_reduce.elements_sent = all_reduce.elements_received = bytes;
  schedule.programs[0].operations = {all_reduce};
  RunSpec spec;
  spec.iterations = times;
  spec.warmup = 0;

  fmt::print("{} ranks, {} of {} MiB\n", ranks, algorithm, bytes >> 20);
  double before = cpu_seconds(), coupled = 0;
  int repetitions = 0;
  do coupled = end_of(simulate(schedule, machine, placement, spec)), ++repetitions;
  while (cpu_seconds() - before < least_measured);
  fmt::print("coupled   {:8.5f} s CPU, {:.9f} s simulated\n", (cpu_seconds() - before) / repetitions,
             coupled);

  before = cpu_seconds();
  const Schedule lowered =
      lower(schedule, {&entry_called(collectives::all(), algorithm, "algorithm"), {}, "bench"});
  std::int64_t messages = 0, all = 0;
  for (const Program& program : lowered.programs)
    for (const Operation& operation : program.operations)
      ++all, messages += operation.kind == OperationKind::send;
  fmt::print("lowering  {:8.5f} s CPU, {} operations, {} with waits, {:.0f} MB\n", cpu_seconds() - before,
             2 * messages, all, megabytes());

  for (const bool fold : {true, false}) {
    before = cpu_seconds();
    const double simulated = end_of(simulate({{lowered, placement, spec}}, machine, fold).front());
    const double cpu = cpu_seconds() - before;
    fmt::print("{} {:8.5f} s CPU, {:.9f} s simulated, {:.0f} MB: {:.2f} million operations/s\n",
               fold ? "folded   " : "one by one", cpu, simulated, megabytes(),
               2e-6 * double(times * messages) / cpu);
  }
  return 0;
}
