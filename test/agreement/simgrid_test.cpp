// SPDX-License-Identifier: Apache-2.0
// Our simulator beside SimGrid, over the same links and routes: random machines, placements, groups and sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include <fmt/format.h>

#include <dlnb/document.hpp>
#include <dlnb/schedule.hpp>

#include "executor/sim/sim.hpp"
#include "machine/machine.hpp"
#include "peer/simgrid.hpp"
#include "unit/sim/world.hpp"

namespace dlnb {
namespace {

class SimGrid : public testing::TestWithParam<unsigned> {
 protected:
  std::mt19937 random{GetParam()};

  int up_to(int most) { return std::uniform_int_distribution<int>(1, most)(random); }
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }

  /// Machines whose links have different capacities and are shared by many routes.
  Machine machine() {
    Machine machine;
    machine.name = "random";
    machine.nics_per_node = 1;
    std::string topology, table;
    const int groups = 1 + up_to(4), switches = 1 + up_to(3), ports = up_to(4);
    machine.nodes = groups * switches * ports;
    if (up_to(2) == 1) {
      topology = "dragonfly";
      table = fmt::format(
          "groups = {}\nswitches = {}\nports = {}\nglobal_links = {}\nendpoint_capacity = '25 GB/s'\n"
          "local_capacity = '{} GB/s'\nglobal_capacity = '{} GB/s'\n",
          groups, switches, ports, up_to(3), 10 + up_to(30), 10 + up_to(30));
    } else {
      topology = "switch";
      table = fmt::format("capacity = '{} GB/s'\nplanes = 1\nport = 'nic'\n", 10 + up_to(30));
    }
    machine.network = entry_called(topologies::all(), topology, "topology")
                          .build(parse_toml(table, "random"), machine.nodes);
    machine.software.forced = "ring/simple";
    return machine;
  }

  /// Jobs of two ranks and more on devices of their own.
  std::vector<peer::RingJob> jobs(const Machine& machine) {
    std::vector<int> devices(std::size_t(machine.nodes));
    std::iota(devices.begin(), devices.end(), 0);
    std::ranges::shuffle(devices, random);
    std::vector<peer::RingJob> jobs;
    for (std::size_t used = 0; used + 2 <= devices.size() && jobs.size() < 6;) {
      const std::size_t size = std::min(devices.size() - used, std::size_t(1 + up_to(6)));
      if (size < 2) break;
      peer::RingJob job{
          Placement(devices.begin() + std::ptrdiff_t(used), devices.begin() + std::ptrdiff_t(used + size)),
          {},
          double(std::int64_t(up_to(64)) * std::int64_t(size) << 20)};
      for (int round = 0; round < 4; ++round) job.compute.push_back(between(1e-3, 20e-3));
      jobs.push_back(std::move(job));
      used += size;
    }
    return jobs;
  }

  static std::vector<double> simulated(const Machine& machine, const std::vector<peer::RingJob>& jobs,
                                       const std::string& network) {
    std::vector<Schedule> schedules;
    for (const peer::RingJob& job : jobs) {
      std::vector<Operation> operations;
      for (const double seconds : job.compute) {
        operations.push_back(world::compute(seconds));
        operations.push_back(world::all_reduce(1, std::int64_t(job.bytes)));
      }
      schedules.push_back(world::same({{"rank", std::int64_t(job.devices.size())}}, operations));
    }
    RunSpec spec = world::spec();
    spec.network = network;
    std::vector<SimulatedJob> given;
    for (std::size_t j = 0; j < jobs.size(); ++j) given.push_back({schedules[j], jobs[j].devices, spec});
    std::vector<double> ends;
    for (const Trace& trace : simulate(given, machine))
      ends.push_back(world::at(trace.ranks.front().end_of(0)));
    return ends;
  }

  void expect_the_ends_of(decltype(peer::simgrid_tasks) simgrid, const std::string& network) {
    const Machine machine = this->machine();
    const std::vector<peer::RingJob> jobs = this->jobs(machine);
    if (jobs.empty()) GTEST_SKIP() << "a machine of one device";

    const auto peer = simgrid(machine, jobs, 600);
    ASSERT_TRUE(peer);
    const std::vector<double> ours = simulated(machine, jobs, network);
    for (std::size_t j = 0; j < ours.size(); ++j) EXPECT_NEAR(ours[j] / peer->end[j], 1, 1e-4) << "job " << j;
  }
};

TEST_P(SimGrid, EndsJobsOfRingAllReducesWhenWeDo) { expect_the_ends_of(peer::simgrid_coupled, "max_min"); }

TEST_P(SimGrid, EndsParallelTasksWhenWeDoWhereTheyShareByItsRule) {
  expect_the_ends_of(peer::simgrid_tasks, "fair_bottleneck");
}

TEST_P(SimGrid, EndsMessagesWhenWeDo) {
  const Machine machine = this->machine();
  std::vector<peer::Message> messages;
  std::vector<Schedule> schedules;
  std::vector<Placement> placements;
  for (int m = 0; m < 12 && machine.nodes > 1; ++m) {
    const int from = up_to(machine.nodes) - 1, to = (from + up_to(machine.nodes - 1)) % machine.nodes;
    const double start = between(0, 10e-3), bytes = double(up_to(1 << 28));
    messages.push_back({from, to, start, bytes});
    // Larger than any sender sends without its receiver, who is there from the start.
    schedules.push_back(
        world::staged({{"side", 2}}, {{world::compute(start), world::send(1, 1, std::int64_t(bytes))},
                                      {world::recv(1, 0, std::int64_t(bytes))}}));
    placements.push_back({from, to});
  }
  if (messages.empty()) GTEST_SKIP() << "a machine of one device";
  std::vector<SimulatedJob> simulated;
  for (std::size_t m = 0; m < messages.size(); ++m)
    simulated.push_back({schedules[m], placements[m], world::spec()});
  const std::vector<Trace> traces = simulate(simulated, machine);

  const auto peer = peer::simgrid_messages(machine, messages);
  ASSERT_TRUE(peer);
  for (std::size_t m = 0; m < messages.size(); ++m)
    EXPECT_NEAR(world::at(traces[m].ranks.back().end_of(0)) / peer->end[m], 1, 1e-4) << "message " << m;
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimGrid, testing::Range(1u, 201u));

}  // namespace
}  // namespace dlnb
