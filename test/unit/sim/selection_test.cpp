// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/selection.hpp"

#include <gtest/gtest.h>

#include <memory>

#include <dlnb/error.hpp>

#include "unit/sim/world.hpp"

namespace dlnb::sim {
namespace {

using enum OperationKind;

std::vector<Member> members(int nodes, int per_node) {
  std::vector<Member> members;
  for (int i = 0; i < nodes * per_node; ++i) members.push_back({i, i / per_node, i % per_node});
  return members;
}

/// 8 nodes of 4 devices; 100 bytes/s inside, 10 bytes/s for every NIC.
Machine machine() { return world::cluster(8, 4, 100, 10); }

TuningCost cost(const char* algorithm, Protocol protocol, double start, double node_step, double network_step,
                double bandwidth) {
  TuningCost cost;
  cost.algorithm = algorithm;
  cost.protocol = protocol;
  cost.start = {start};
  cost.node_step = {node_step};
  cost.network_step = {network_step};
  cost.bandwidth = {bandwidth, bandwidth, bandwidth};
  return cost;
}

std::string names(const std::vector<Choice>& choices) {
  std::string names;
  for (const Choice& choice : choices) {
    names += names.empty() ? "" : " ";
    names += choice.algorithm->name;
    if (choice.cost) names += std::string("/") + name_of(choice.cost->protocol);
  }
  return names;
}

TEST(Selection, LeavesTheUsualOnesToTheFastestWhereNothingElseDecides) {
  const Machine any = machine();
  const Selection selection(any);

  EXPECT_EQ(names(selection.choices(all_reduce, members(2, 4), 8)), "ring tree");
  EXPECT_EQ(names(selection.choices(all_reduce, members(1, 4), 8)), "ring mesh_rings");
  EXPECT_EQ(names(selection.choices(all_gather, members(2, 4), 8)), "ring");
  EXPECT_EQ(names(selection.choices(all_to_all, members(2, 4), 8)), "pairwise");
}

TEST(Selection, ForcesWhatTheMachineFileForcesWhereItCanDoIt) {
  Machine forced = machine();
  forced.software.forced = "tree";
  const Selection selection(forced);

  EXPECT_EQ(names(selection.choices(all_reduce, members(2, 4), 8)), "tree");
  EXPECT_EQ(names(selection.choices(all_gather, members(2, 4), 8)), "ring");
}

TEST(Selection, TakesTheRingsCostsForWhatTheLibraryDoesNotHave) {
  auto library = std::make_shared<Library>();
  library->costs = {cost("ring", Protocol::simple, 1, 2, 3, 1)};
  Machine forced = machine();
  forced.software.library = library;
  forced.software.forced = "halving_doubling";
  const Selection selection(forced);

  const std::vector<Choice> choices = selection.choices(all_reduce, members(2, 4), 8);

  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].algorithm->name, "halving_doubling");
  ASSERT_NE(choices[0].cost, nullptr);
  EXPECT_EQ(choices[0].cost->start.value, 1);
}

TEST(Selection, TakesTheFirstRowOfATuningTableThatFits) {
  Machine tuned = machine();
  tuned.software.tuning = {{"all-reduce", {100}, 8, INT64_MAX, "tree"},
                           {"all-reduce", {1000}, INT64_MAX, 4, "ring"},
                           {"", {INT64_MAX}, INT64_MAX, INT64_MAX, "direct"}};
  const Selection selection(tuned);

  EXPECT_EQ(names(selection.choices(all_reduce, members(2, 4), 100)), "tree");
  EXPECT_EQ(names(selection.choices(all_reduce, members(2, 4), 101)), "ring");
  EXPECT_EQ(names(selection.choices(all_reduce, members(4, 4), 100)), "ring");
  EXPECT_EQ(names(selection.choices(all_reduce, members(8, 4), 100)), "ring tree");
  EXPECT_EQ(names(selection.choices(all_to_all, members(8, 4), 100)), "direct");
}

TEST(Selection, TakesWhatTheLibraryGuessesToBeFastest) {
  Machine nccl = machine();
  auto library = std::make_shared<Library>();
  library->costs = {cost("ring", Protocol::simple, 10, 1, 5, 1), cost("ring", Protocol::ll, 1, 0.5, 1, 0.25),
                    cost("tree", Protocol::simple, 10, 1, 5, 1)};
  nccl.software.library = library;
  const Selection selection(nccl);

  // Eight members on two nodes, 4 NICs of 10 bytes/s: a ring takes 2·7/8/40 = 0.04375 s per byte, a tree 1/40 = 0.025.
  //   ring/simple 10 + 12·1 + 2·5 = 32, ring/ll 1 + 12·0.5 + 2·1 = 9 and 0.175 s per byte,
  //   tree/simple 10 + 6·1 + 2·5 = 26
  // ring/ll until 9 + 0.175 S = 26 + 0.025 S: 113.3 bytes.
  EXPECT_EQ(names(selection.choices(all_reduce, members(2, 4), 113)), "ring/ll");
  EXPECT_EQ(names(selection.choices(all_reduce, members(2, 4), 114)), "tree/simple");
  // One node, 3 cables' worth of one port: both layouts of a ring are left to the machine.
  EXPECT_EQ(names(selection.choices(all_reduce, members(1, 4), 1)), "mesh_rings/ll ring/ll");
  // The library knows no all-to-all: the usual one.
  EXPECT_EQ(names(selection.choices(all_to_all, members(2, 4), 1)), "pairwise");
}

TEST(Selection, LeavesOutProtocolsThatAreNotUsedBetweenNodes) {
  Machine nccl = machine();
  auto library = std::make_shared<Library>();
  library->costs = {cost("ring", Protocol::simple, 10, 1, 5, 1), cost("ring", Protocol::ll, 1, 0.5, 1, 0.25)};
  nccl.software.library = library;
  nccl.software.network_protocols = 1u << int(Protocol::simple);
  const Selection selection(nccl);

  EXPECT_EQ(names(selection.choices(all_gather, members(2, 4), 1)), "ring/simple");
  EXPECT_EQ(names(selection.choices(all_gather, members(1, 4), 1)), "mesh_rings/ll ring/ll");
}

TEST(Selection, ChoosesByTheLibraryButPaysWhatTheMachineIsKnownToTake) {
  Machine nccl = machine();
  auto library = std::make_shared<Library>();
  library->costs = {cost("ring", Protocol::simple, 10, 1, 5, 1)};
  nccl.software.library = library;
  nccl.software.costs = {cost("ring", Protocol::simple, 7, 1, 5, 0.5)};
  const Selection selection(nccl);

  const std::vector<Choice> choices = selection.choices(all_gather, members(2, 4), 1);

  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].cost->start, Seconds{7});
  EXPECT_EQ(choices[0].bandwidth, 0.5);
}

TEST(Selection, KeepsToTheLimitOfAProtocolOnTheDevice) {
  Machine nccl = machine();
  nccl.device.name = "gpu";
  auto library = std::make_shared<Library>();
  library->costs = {cost("ring", Protocol::ll, 1, 1, 1, 0.5)};
  library->limits = {{Protocol::ll, {"gpu"}, {{100}, {4}, {4}}}, {Protocol::ll, {"other"}, {{1}, {1}, {1}}}};
  nccl.software.library = library;
  const Selection selection(nccl);

  const std::vector<Choice> choices = selection.choices(all_reduce, members(2, 4), 1);

  // The ring's bus bandwidth is 40 bytes/s; 4 of them are a tenth.
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_DOUBLE_EQ(choices[0].bandwidth, 0.1);
}

TEST(Selection, PaysForStepsByWhereTheyLead) {
  TuningCost ring = cost("ring", Protocol::simple, 10, 1, 5, 1);
  const GroupShape one = shape_of(members(1, 4)), two = shape_of(members(2, 4));

  EXPECT_EQ(Selection::latency(ring, {6, 0}, one), 16);
  EXPECT_EQ(Selection::latency(ring, {12, 2}, two), 32);
  ring.least_step = {2};
  EXPECT_EQ(Selection::latency(ring, {6, 0}, one), 16);
  EXPECT_EQ(Selection::latency(ring, {12, 2}, two), 44);
  ring.mean_step = {0.5};
  EXPECT_EQ(Selection::latency(ring, {6, 0}, one), 16);
  EXPECT_EQ(Selection::latency(ring, {12, 2}, two), 17);
}

TEST(Selection, RefusesNamesThatThereAreNot) {
  Machine wrong = machine();
  wrong.software.forced = "rong";
  EXPECT_THROW(Selection{wrong}, UserError);
  wrong.software.forced = "ring/lll";
  EXPECT_THROW(Selection{wrong}, UserError);
  wrong.software.forced = "";
  wrong.software.tuning = {{"", {1}, 1, 1, "tre"}};
  EXPECT_THROW(Selection{wrong}, UserError);
}

TEST(GroupShape, CountsNodesRailsAndWhetherTheyAreEven) {
  const GroupShape even = shape_of(members(3, 2));
  const GroupShape uneven = shape_of(std::vector<Member>{{0, 0, 0}, {9, 4, 1}, {1, 0, 0}, {2, 0, 1}});
  const GroupShape one = shape_of(members(1, 4));

  EXPECT_EQ(std::tuple(even.members, even.nodes, even.rails, even.even), std::tuple(6, 3, 2, true));
  EXPECT_EQ(std::tuple(uneven.members, uneven.nodes, uneven.rails, uneven.even), std::tuple(4, 2, 1, false));
  EXPECT_EQ(std::tuple(one.members, one.nodes, one.rails, one.even), std::tuple(4, 1, 1, true));
}

}  // namespace
}  // namespace dlnb::sim
