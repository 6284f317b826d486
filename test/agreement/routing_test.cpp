// SPDX-License-Identifier: Apache-2.0
// Rings over the rails of the shipped machines: with the routing of their files no cable between switches holds up what
// the NICs can send, with hashed routes one does.
#include <gtest/gtest.h>

#include "executor/sim/coll.hpp"
#include "executor/sim/sim.hpp"
#include "machine/machine.hpp"

namespace dlnb {
namespace {

/// Bytes/s of every rank's share of the vector, over what the NICs of a node carry.
double share_of_nics(const std::string& name, Routing routing, int nodes, const std::string& placement) {
  Machine machine = load_machine(name, "test");
  machine.routing = routing;
  machine.software = {};  // nothing but links
  CollSpec spec;
  spec.operations = {CollOperation::all_gather};
  spec.dtypes = {DataType::float32};
  spec.min_size = spec.max_size = Bytes{std::int64_t{64} << 30};  // latency does not count
  spec.ranks = std::int64_t{nodes} * machine.devices_per_node;
  spec.machine = name;
  const Placement devices = place(machine, spec.ranks, placement, 3, "test");
  const CollTable table = simulate(spec, machine, devices);
  const double nics = machine.nics_per_node * machine.network->links()[0].capacity.value;
  return table.rows.front().bus_bandwidth / nics;
}

struct Case {
  const char* machine;
  int nodes;
  const char* placement;
};

class Rails : public testing::TestWithParam<Case> {};

TEST_P(Rails, AreAsFastAsTheirNics) {
  const auto& [machine, nodes, placement] = GetParam();

  EXPECT_GT(share_of_nics(machine, load_machine(machine, "test").routing, nodes, placement), 0.97);
  EXPECT_LT(share_of_nics(machine, Routing::ecmp, nodes, placement), 0.7);
}

INSTANTIATE_TEST_SUITE_P(Shipped, Rails,
                         testing::Values(Case{"alps", 16, "linear"}, Case{"alps", 64, "linear"},
                                         Case{"perlmutter", 16, "linear"}, Case{"alps", 64, "random"},
                                         Case{"leonardo", 64, "random"}, Case{"jupiter", 64, "random"}),
                         [](const auto& test) {
                           return std::string(test.param.machine) + "_" + std::to_string(test.param.nodes) +
                                  "_" + test.param.placement;
                         });

// --- several jobs --------------------------------------------------------------------------------------------

Operation repeated(OperationKind kind, AxisSet axes, std::int64_t bytes) {
  Operation operation;
  operation.kind = kind;
  operation.axes = axes;
  operation.dtype = DataType::float8;
  operation.elements_sent = operation.elements_received = bytes;
  return operation;
}

/// Jobs of repeated collectives, side by side on drawn devices of 64 nodes of a dragonfly, groups of four nodes.
struct Crowd {
  std::vector<Schedule> schedules;
  std::vector<Placement> placements;
  std::vector<RunSpec> specs;
  Machine machine = load_machine("alps", "test");

  explicit Crowd(std::uint64_t seed) {
    const int nodes = 64, jobs = 4, ranks = nodes * machine.devices_per_node / jobs;
    const Placement all = place(machine, nodes * machine.devices_per_node, "random", seed, "test");
    for (int j = 0; j < jobs; ++j) {
      Schedule schedule;
      schedule.grid = ProcessGrid({{"member", ranks / (j % 2 + 1)}, {"group", j % 2 + 1}});
      schedule.programs.push_back(
          {0, {repeated(j < 2 ? OperationKind::all_gather : OperationKind::all_reduce, 1, 64 << 20)}, 0});
      schedules.push_back(schedule);
      placements.emplace_back(all.begin() + j * ranks, all.begin() + (j + 1) * ranks);
      RunSpec spec;
      spec.iterations = j == 0 ? 5 : 20;  // so that the first is never alone
      specs.push_back(spec);
    }
  }
  std::vector<Trace> run(const std::string& network = "max_min") {
    std::vector<SimulatedJob> jobs;
    for (RunSpec& spec : specs) spec.network = network;
    for (std::size_t j = 0; j < schedules.size(); ++j)
      jobs.push_back({schedules[j], placements[j], specs[j]});
    return simulate(jobs, machine);
  }
};

TEST(Jobs, OfOneRepeatedCollectiveAreNeverFasterBesideOthers) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Crowd crowd(seed);

    const Trace beside = crowd.run()[0];
    const Trace alone = simulate(crowd.schedules[0], crowd.machine, crowd.placements[0], crowd.specs[0]);

    for (std::size_t i = 0; i < std::size_t(alone.iterations); ++i)
      EXPECT_GE(beside.ranks[0].end_of(i), alone.ranks[0].end_of(i));
  }
}

TEST(Jobs, LoseLessWhereRoutesGiveWay) {
  Crowd adaptive(1), minimal(1);
  minimal.machine.routing = Routing::minimal;

  const auto end = [](const Trace& trace) {
    return trace.ranks[0].end_of(std::size_t(trace.iterations) - 1);
  };
  EXPECT_LT(end(adaptive.run()[0]), 0.8 * double(end(minimal.run()[0])));
}

TEST(Jobs, ThatGiveWayShareLinksAsInTheTextbook) {
  Crowd crowd(2);

  const std::vector<Trace> fast = crowd.run("max_min"), plain = crowd.run("max_min_plain");

  for (std::size_t j = 0; j < fast.size(); ++j)
    for (std::size_t i = 0; i < std::size_t(std::min(fast[j].iterations, plain[j].iterations)); ++i)
      EXPECT_NEAR(double(fast[j].ranks[0].end_of(i)), double(plain[j].ranks[0].end_of(i)), 2);
}

}  // namespace
}  // namespace dlnb
