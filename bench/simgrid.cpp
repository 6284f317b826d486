// SPDX-License-Identifier: Apache-2.0
// simgrid [largest ranks] [CPU seconds for a peer]: our simulator and SimGrid on the same jobs over the same links, in
// turn, each in a process of its own. J jobs share a dragonfly of 25 GB/s links at random; each does 20 rounds of 5 to
// 50 ms of computing and an all-reduce of 64 MiB by ring.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <dlnb/schedule.hpp>

#include "executor/sim/sim.hpp"
#include "machine/machine.hpp"
#include "peer/simgrid.hpp"

namespace {

using namespace dlnb;

constexpr int rounds = 20;
constexpr std::int64_t vector_bytes = 64 << 20;
constexpr double least_measured = 0.5;  // seconds of CPU time

struct Row {
  int jobs, groups, switches, ports, global_links;
  int ranks() const { return groups * switches * ports; }
};
/// As many global cables as endpoints need for their bandwidth.
constexpr Row rows[] = {{8, 16, 8, 8, 8}, {32, 32, 16, 8, 8}, {64, 32, 32, 16, 32}, {256, 128, 64, 16, 16}};

Machine machine_of(const Row& row) {
  Machine machine;
  machine.name = "dragonfly";
  machine.nodes = row.ranks();
  machine.nics_per_node = 1;
  machine.software.forced = "ring/simple";
  const std::string table = fmt::format(
      "groups = {}\nswitches = {}\nports = {}\nglobal_links = {}\nendpoint_capacity = '25 GB/s'\n"
      "local_capacity = '25 GB/s'\nglobal_capacity = '25 GB/s'\n",
      row.groups, row.switches, row.ports, row.global_links);
  machine.network = entry_called(topologies::all(), "dragonfly", "topology")
                        .build(parse_toml(table, "dragonfly"), row.ranks());
  return machine;
}

std::vector<peer::RingJob> jobs_of(const Row& row) {
  std::mt19937_64 random(1);
  std::vector<int> devices(std::size_t(row.ranks()));
  std::iota(devices.begin(), devices.end(), 0);
  std::ranges::shuffle(devices, random);
  std::uniform_real_distribution<double> compute(5e-3, 50e-3);
  std::vector<peer::RingJob> jobs(std::size_t(row.jobs));
  const std::ptrdiff_t each = row.ranks() / row.jobs;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto first = devices.begin() + std::ptrdiff_t(j) * each;
    jobs[j] = {Placement(first, first + each), {}, double(vector_bytes)};
    for (int r = 0; r < rounds; ++r) jobs[j].compute.push_back(compute(random));
  }
  return jobs;
}

Schedule schedule_of(const peer::RingJob& job) {
  Schedule schedule;
  schedule.plan = "rounds";
  schedule.grid = ProcessGrid({{"rank", std::int64_t(job.devices.size())}});
  schedule.programs.resize(1);
  for (const double seconds : job.compute) {
    Operation compute;
    compute.cost.time = {seconds};
    Operation all_reduce;
    all_reduce.kind = OperationKind::all_reduce;
    all_reduce.axes = 1;
    all_reduce.dtype = DataType::float8;
    all_reduce.elements_sent = all_reduce.elements_received = vector_bytes;
    schedule.programs[0].operations.insert(schedule.programs[0].operations.end(), {compute, all_reduce});
  }
  return schedule;
}

struct Ours {
  const Machine& machine;
  const std::vector<peer::RingJob>& jobs;
  std::string network = "max_min";
};

std::vector<double> simulate_ours(void* what, double& cpu) {
  const Ours& given = *static_cast<Ours*>(what);
  RunSpec spec;
  spec.iterations = 1;
  spec.warmup = 0;
  spec.network = given.network;
  std::vector<double> end(given.jobs.size());
  // The clock of CPU time may tick in steps of 10 ms.
  const double before = peer::cpu_seconds();
  for (int times = 1; cpu < least_measured; ++times) {
    std::vector<Schedule> schedules;
    for (const peer::RingJob& job : given.jobs) schedules.push_back(schedule_of(job));
    std::vector<SimulatedJob> jobs;
    for (std::size_t j = 0; j < given.jobs.size(); ++j)
      jobs.push_back({schedules[j], given.jobs[j].devices, spec});
    const std::vector<Trace> traces = simulate(jobs, given.machine);
    for (std::size_t j = 0; j < traces.size(); ++j) end[j] = double(traces[j].ranks.front().end_of(0)) * 1e-9;
    const double total = peer::cpu_seconds() - before;
    if (total < least_measured) continue;
    cpu = total / times;
    break;
  }
  return end;
}

void compare(const Row& row, double limit) {
  const Machine machine = machine_of(row);
  const std::vector<peer::RingJob> jobs = jobs_of(row);
  Ours by_flow{machine, jobs}, by_task{machine, jobs, "fair_bottleneck"};
  const auto own = peer::in_own_process(600, simulate_ours, &by_flow);
  fmt::print("{:>7} {:>5}", row.ranks(), row.jobs);
  if (!own) return fmt::print("   ours was stopped\n");
  fmt::print(" {:>9.5f} {:>6.0f} {:>10.5f}", own->cpu, own->peak_megabytes, std::ranges::max(own->end));

  // SimGrid's zone keeps a table of every pair of hosts: of 16,384 it takes 2 GB.
  const bool fits = row.ranks() <= 16384;
  const auto coupled = fits ? peer::simgrid_coupled(machine, jobs, limit) : std::nullopt;
  const auto tasks = fits ? peer::simgrid_tasks(machine, jobs, limit) : std::nullopt;
  const auto own_tasks = tasks ? peer::in_own_process(600, simulate_ours, &by_task) : std::nullopt;
  const auto flows = row.ranks() <= 1024 ? peer::simgrid_flows(machine, jobs, limit) : std::nullopt;
  const auto beside = [](const std::optional<peer::Outcome>& ours, const std::optional<peer::Outcome>& peer) {
    if (ours && peer)
      fmt::print(" | {:>8.3f} {:>6.0f} x {:>+8.3f} %", peer->cpu, peer->cpu / ours->cpu,
                 100 * (std::ranges::max(ours->end) / std::ranges::max(peer->end) - 1));
    else fmt::print(" | {:>28}", "not run or stopped");
  };
  beside(own, coupled), beside(own, tasks), beside(own_tasks, tasks), beside(own, flows);
  fmt::print("\n");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  const int largest = count > 1 ? std::atoi(words[1]) : 131072;
  const double limit = count > 2 ? std::atof(words[2]) : 150;
  fmt::print(
      "Simulated: when the last job ended. Ratio: a peer's CPU time to ours. Ours is: our simulated time "
      "beside the peer's. "
      "Peers\nare stopped after {:.0f} s of CPU time.\n\n{:>41} | {:^28} | {:^28} | {:^28} | {:^28}\n{:>7} "
      "{:>5} "
      "{:>9} {:>6} {:>10}",
      limit, "ours", "SimGrid, coupled", "SimGrid, L07", "L07, ours by its rule", "SimGrid, flows", "ranks",
      "jobs", "CPU, s", "MB", "simulated");
  for (int peers = 0; peers < 4; ++peers) fmt::print(" | {:>8} {:>8} {:>10}", "CPU, s", "ratio", "ours is");
  fmt::print("\n");
  for (const Row& row : rows)
    if (row.ranks() <= largest) compare(row, limit);
  return 0;
}
