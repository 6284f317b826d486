// SPDX-License-Identifier: Apache-2.0
// Rings over the rails of the shipped machines: with the routing of their files no cable between switches holds up what
// the NICs can send, with hashed routes one does.
#include <gtest/gtest.h>

#include "executor/sim/coll.hpp"
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

}  // namespace
}  // namespace dlnb
