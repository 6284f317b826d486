// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "machines.hpp"

namespace dlnb {
namespace {

Machine machine_of(int nodes, int devices_per_node) {
  Machine machine;
  machine.name = "toy";
  machine.nodes = nodes;
  machine.devices_per_node = devices_per_node;
  return machine;
}

// Groups of 4 first-level switches with 3 nodes each, one NIC and 4 devices a node.
Machine dragonfly_of(int groups) {
  Machine machine = machine_of(groups * 12, 4);
  machine.nics_per_node = 1;
  machine.network =
      test::build("dragonfly",
                  "groups = " + std::to_string(groups) +
                      "\nswitches = 4\nports = 3\nendpoint_capacity = '1 GB/s'\nlocal_capacity = '1 GB/s'\n"
                      "global_capacity = '1 GB/s'",
                  machine.nodes);
  return machine;
}

std::vector<int> nodes_of(const Machine& machine) {
  std::vector<int> nodes(std::size_t(machine.nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

class EveryPlacement : public testing::TestWithParam<const PlacementKind*> {};

TEST_P(EveryPlacement, GivesEveryRankADeviceOfItsOwn) {
  const Machine machine = dragonfly_of(3);

  for (std::int64_t ranks : {1, 3, 4, 12, 17, 40, 48, 140}) {
    Placement devices;
    try {
      devices = place(machine, ranks, std::string(GetParam()->name), 5, "--ranks");
    } catch (const UserError&) {
      if (!GetParam()->on_switches) throw;
      continue;  // a class that so many ranks cannot have
    }

    EXPECT_EQ(std::int64_t(devices.size()), ranks);
    EXPECT_EQ(std::set<int>(devices.begin(), devices.end()).size(), devices.size());
    for (const int device : devices) EXPECT_TRUE(device >= 0 && device < machine.devices());
  }
}

TEST_P(EveryPlacement, GivesTheSameForTheSameSeed) {
  const Machine machine = dragonfly_of(5);
  const std::vector<int> nodes = nodes_of(machine);

  const Placement once = GetParam()->place(machine, {.nodes = nodes, .ranks = 12, .seed = 11}),
                  again = GetParam()->place(machine, {.nodes = nodes, .ranks = 12, .seed = 11});

  EXPECT_EQ(once, again);
}

TEST_P(EveryPlacement, TakesWholeNodesInOrder) {
  const Machine machine = dragonfly_of(5);
  const std::vector<int> nodes = nodes_of(machine);

  const Placement devices = GetParam()->place(machine, {.nodes = nodes, .ranks = 10, .seed = 2});

  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    EXPECT_EQ(devices[rank] % 4, int(rank % 4));
    EXPECT_EQ(machine.node_of(devices[rank]), machine.node_of(devices[rank / 4 * 4]));
  }
}

TEST_P(EveryPlacement, RefusesMoreRanksThanDevices) {
  const Machine machine = machine_of(2, 4);

  EXPECT_THROW(place(machine, 9, std::string(GetParam()->name), 1, "--ranks"), UserError);
  EXPECT_THROW(place(machine, 0, std::string(GetParam()->name), 1, "--ranks"), UserError);
}

INSTANTIATE_TEST_SUITE_P(All, EveryPlacement,
                         testing::ValuesIn(placements::all().begin(), placements::all().end()),
                         [](const auto& test) {
                           std::string name(test.param->name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// How many nodes of a placement sit on each switch, and in each group.
struct Shape {
  std::map<int, int> on_switch, in_group;
};
Shape shape_of(const Machine& machine, const Placement& devices) {
  Shape shape;
  std::set<int> nodes;
  for (const int device : devices) nodes.insert(machine.node_of(device));
  for (const int node : nodes) {
    ++shape.on_switch[machine.network->switch_of(node)];
    ++shape.in_group[machine.network->group_of(node)];
  }
  return shape;
}
Shape shape_of(const Machine& machine, std::int64_t ranks, const std::string& placement,
               std::int64_t seed = 1) {
  return shape_of(machine, place(machine, ranks, placement, seed, "--ranks"));
}

std::string refusal(const Machine& machine, std::int64_t ranks, const std::string& placement) {
  try {
    place(machine, ranks, placement, 1, "--ranks");
  } catch (const UserError& error) {
    return error.what();
  }
  return {};
}

TEST(Classes, IntraL1IsOneSwitch) {
  const Machine machine = dragonfly_of(3);

  EXPECT_EQ(shape_of(machine, 12, "intra-l1").on_switch, (std::map<int, int>{{0, 3}}));
  EXPECT_EQ(refusal(machine, 16, "intra-l1"),
            "--placement: intra-l1: 4 nodes, but no first-level switch has more than 3 free ones");
}

TEST(Classes, IntraGroupIsOneGroupAndSeveralSwitches) {
  const Machine machine = dragonfly_of(3);
  for (int seed = 0; seed < 50; ++seed) {
    const Shape shape = shape_of(machine, 8, "intra-group", seed);

    EXPECT_EQ(shape.in_group.size(), 1u);
    EXPECT_EQ(shape.on_switch.size(), 2u);
  }
  EXPECT_EQ(shape_of(machine, 48, "intra-group").on_switch.size(), 4u);
  EXPECT_NE(
      refusal(machine, 52, "intra-group").find("no group of several first-level switches has more than 12"),
      std::string::npos);
  EXPECT_NE(refusal(machine, 4, "intra-group").find("one node spans no first-level switches"),
            std::string::npos);
}

TEST(Classes, InterGroupIsEvenOverGroups) {
  const Machine machine = dragonfly_of(3);
  for (int seed = 0; seed < 20; ++seed) {
    for (const auto& [group, nodes] : shape_of(machine, 4 * 9, "inter-group", seed).in_group)
      EXPECT_EQ(nodes, 3);
    for (const auto& [group, nodes] : shape_of(machine, 4 * 11, "inter-group", seed).in_group)
      EXPECT_TRUE(nodes == 3 || nodes == 4);
    EXPECT_EQ(shape_of(machine, 8, "inter-group", seed).in_group.size(), 2u);
  }
  EXPECT_NE(refusal(dragonfly_of(1), 8, "inter-group").find("have only one group"), std::string::npos);
}

TEST(Classes, SameL1IsExactlyThatManyNodesOnEachSwitch) {
  const Machine machine = dragonfly_of(4);
  for (const int n : {1, 2, 3})
    for (int seed = 0; seed < 20; ++seed) {
      const std::string blocks = "-same-l1-" + std::to_string(n);
      const Shape inside = shape_of(machine, 4 * n * 3, "intra-group" + blocks, seed);
      const Shape across = shape_of(machine, 4 * n * 6, "inter-group" + blocks, seed);

      for (const auto& [index, nodes] : inside.on_switch) EXPECT_EQ(nodes, n);
      for (const auto& [index, nodes] : across.on_switch) EXPECT_EQ(nodes, n);
      EXPECT_EQ(inside.in_group.size(), 1u);
      EXPECT_EQ(inside.on_switch.size(), 3u);
      EXPECT_EQ(across.in_group.size(), 4u);
      for (const auto& [group, nodes] : across.in_group) EXPECT_TRUE(nodes == n || nodes == 2 * n);
    }
}

TEST(Classes, SayWhyTheyCannotBeHad) {
  const Machine machine = dragonfly_of(3);

  EXPECT_NE(refusal(machine, 20, "intra-group-same-l1-2").find("5 nodes are no whole blocks of 2"),
            std::string::npos);
  EXPECT_NE(refusal(machine, 8, "inter-group-same-l1-2").find("one block of 2 nodes is intra-l1"),
            std::string::npos);
  EXPECT_NE(refusal(machine, 4 * 10, "intra-group-same-l1-2").find("no group has more than 4 switches"),
            std::string::npos);
  EXPECT_NE(refusal(machine, 4 * 16, "inter-group-same-l1-4")
                .find("needs 4 switches with a free block, there are 0"),
            std::string::npos);
  EXPECT_NE(refusal(machine_of(1, 8), 4, "intra-group").find("is one node"), std::string::npos);
  for (const char* name : {"linear-same-l1-2", "intra-group-same-l1-", "intra-group-same-l1-x",
                           "inter-group-same-l1-0", "intra-group-same-l1-2x", "intra-group-same-l1--2"})
    EXPECT_NE(refusal(machine, 8, name).find("nothing is called"), std::string::npos) << name;
}

// Only free nodes count: the first job takes a node of every switch of group 0 but one.
TEST(Classes, TakeFreeNodesOnly) {
  const Machine machine = dragonfly_of(2);
  const std::vector<Placement> jobs =
      place(machine, {{.ranks = 12, .devices = "0-3,12-15,24-27"}, {.ranks = 12, .placement = "intra-l1"}});

  EXPECT_EQ(jobs[1].front(), 36);  // the fourth switch
}

TEST(Reservation, StaysInThreeNeighbouringGroups) {
  const Machine machine = dragonfly_of(8);
  bool irregular = false;
  for (int seed = 0; seed < 30; ++seed) {
    const Shape shape = shape_of(machine, 4 * 10, "reservation", seed);
    std::set<int> sizes;
    for (const auto& [index, nodes] : shape.on_switch) sizes.insert(nodes);
    irregular |= sizes.size() > 1;

    EXPECT_LE(shape.in_group.size(), 3u);
    const int low = shape.in_group.begin()->first, high = shape.in_group.rbegin()->first;
    EXPECT_TRUE(high - low <= 2 || high - low >= 6) << "neighbours, the last beside the first";
  }
  EXPECT_TRUE(irregular);
  EXPECT_EQ(shape_of(machine, 4 * 50, "reservation").in_group.size(), 5u);  // 36 nodes are not enough
}

TEST(Placement, TakesNodesByName) {
  Machine machine = machine_of(4, 2);
  machine.node_names = {"n1", "n2", "n3", "login"};

  EXPECT_EQ(place(machine, {{.ranks = 4, .devices = "n[3,1]"}}).front(), (Placement{4, 5, 0, 1}));
  EXPECT_EQ(place(machine, {{.ranks = 3, .devices = "login,n2"}}).front(), (Placement{6, 7, 2}));
  EXPECT_EQ(place(machine, {{.ranks = 2, .devices = "3,0"}}).front(), (Placement{3, 0}));
  EXPECT_THROW(place(machine, {{.ranks = 2, .devices = "n4"}}), UserError);
  EXPECT_THROW(place(machine, {{.ranks = 2, .devices = "n[1-2]"}}), UserError);
  EXPECT_THROW(place(machine, {{.ranks = 2, .devices = "n["}}), UserError);
  EXPECT_THROW(place(machine_of(4, 2), {{.ranks = 2, .devices = "n1"}}), UserError);
}

TEST(Linear, PutsRankOnDevice) {
  const Placement devices = place(machine_of(2, 4), 6, "linear", 99, "--ranks");

  EXPECT_EQ(devices, (Placement{0, 1, 2, 3, 4, 5}));
}

TEST(Random, DrawsOtherNodesForOtherSeeds) {
  const Machine machine = machine_of(1000, 1);

  EXPECT_NE(place(machine, 20, "random", 1, "--ranks"), place(machine, 20, "random", 2, "--ranks"));
}

// The documented draw, by hand: mt19937_64's 10,000th number from its default seed is fixed by the C++
// standard, so the generator is the same everywhere; the steps are those of the file head.
TEST(Random, IsTheDocumentedShuffle) {
  const Machine machine = machine_of(6, 1);
  std::vector<int> nodes{0, 1, 2, 3, 4, 5};
  std::mt19937_64 random{42};
  for (std::size_t i = 0; i < 6; ++i)
    std::swap(nodes[i], nodes[i + random() % (6 - i)]);  // no number is thrown away

  EXPECT_EQ(place(machine, 6, "random", 42, "--ranks"), nodes);
}

// Each of 8 nodes is first in 1/8 of 2000 draws: 250, standard deviation √(2000 · 1/8 · 7/8) = 15.
TEST(Random, FavoursNoNode) {
  const Machine machine = machine_of(8, 1);
  std::vector<int> first(8, 0);

  for (int seed = 0; seed < 2000; ++seed)
    ++first[std::size_t(place(machine, 1, "random", seed, "--ranks")[0])];

  for (const int count : first) EXPECT_NEAR(count, 250, 5 * 15);
}

TEST(Placement, NamesTheUnknownAndWhatThereIs) {
  try {
    place(machine_of(2, 4), 2, "randon", 1, "--ranks");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "--placement: nothing is called 'randon'");
    EXPECT_NE(error.hint().find("random"), std::string::npos);
  }
}

TEST(Placement, SaysHowManyDevicesThereAre) {
  try {
    place(machine_of(2, 4), 9, "linear", 1, "--ranks");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "--ranks: 9 ranks, but toy has 8 devices (2 nodes × 4)");
  }
}

TEST(Placement, GivesJobsNodesOfTheirOwn) {
  const std::vector<Placement> jobs = place(machine_of(4, 2), {{3}, {2}});

  EXPECT_EQ(jobs[0], (Placement{0, 1, 2}));
  EXPECT_EQ(jobs[1], (Placement{4, 5}));
}

TEST(Placement, LetsJobsShareAMachineOfOneNode) {
  const std::vector<Placement> jobs = place(machine_of(1, 8), {{3}, {4}});

  EXPECT_EQ(jobs[0], (Placement{0, 1, 2}));
  EXPECT_EQ(jobs[1], (Placement{3, 4, 5, 6}));
  EXPECT_THROW(place(machine_of(1, 8), {{3}, {6}}), UserError);
}

TEST(Placement, TakesDevicesByNumber) {
  const std::vector<Placement> jobs =
      place(machine_of(4, 2), {{.ranks = 4, .devices = "0-2,7"}, {.ranks = 2, .devices = "4,3"}});

  EXPECT_EQ(jobs[0], (Placement{0, 1, 2, 7}));
  EXPECT_EQ(jobs[1], (Placement{4, 3}));
}

TEST(Placement, RefusesDevicesThatCannotBeGiven) {
  const auto refusal = [](const std::vector<PlacementRequest>& jobs) -> std::string {
    try {
      place(machine_of(4, 2), jobs);
    } catch (const UserError& error) {
      return error.what();
    }
    return {};
  };

  EXPECT_EQ(refusal({{.ranks = 2, .devices = "0,0"}}), "--devices: device 0 is given to two ranks");
  EXPECT_EQ(refusal({{.ranks = 2}, {.ranks = 2, .devices = "1-2"}}),
            "--devices: device 1 has a job before this one already");
  EXPECT_EQ(refusal({{.ranks = 2, .devices = "0,8"}}), "--devices: there is no device 8 on toy");
  EXPECT_EQ(refusal({{.ranks = 2, .devices = "3-1"}}), "--devices: '3-1' runs backwards");
  EXPECT_EQ(refusal({{.ranks = 2, .devices = "0-2"}}), "--devices: 3 devices for 2 ranks");
  EXPECT_EQ(refusal({{.ranks = 2, .devices = "n[1-2]"}}),
            "--devices: 'n[1-2]' is a list of nodes, and the file of toy gives its nodes no names");
  EXPECT_EQ(refusal({{.ranks = 2, .devices = "0,x"}}), "--devices: 'x' is no device");
  EXPECT_EQ(refusal({{.ranks = 2, .devices = "0,-1"}}), "--devices: '' is no device");
  EXPECT_EQ(refusal({{.ranks = 2, .devices = "0,1,"}}), "--devices: '' is no device");
  EXPECT_EQ(refusal({{.ranks = 5}, {.ranks = 4}}),
            "--ranks: 4 ranks, but the jobs before leave 1 free nodes of 2 devices on toy");
}

}  // namespace
}  // namespace dlnb
