// SPDX-License-Identifier: Apache-2.0
#include "executor/live/seating.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>

#include <dlnb/error.hpp>

#include "unit/scratch.hpp"

namespace dlnb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Cpus cpus(std::initializer_list<std::size_t> numbers) {
  Cpus set;
  for (const std::size_t number : numbers) set[number] = true;
  return set;
}

Cpus first(std::size_t count) {
  Cpus set;
  for (std::size_t cpu = 0; cpu < count; ++cpu) set[cpu] = true;
  return set;
}

// Synthetic topologies are not this host's; here they stand for it.
Topology machine(const std::string& description) {
  Topology topology = synthetic_topology(description);
  topology.of_this_host = true;
  return topology;
}

Topology two_gpus() {
  std::ostringstream xml;
  xml << std::ifstream(DLNB_TEST_DATA "/fixtures/topologies/two-gpus.xml").rdbuf();
  Topology topology = topology_in_xml(xml.str());
  topology.of_this_host = true;
  return topology;
}

std::vector<std::string> cores_of(const Seating& seating) {
  std::vector<std::string> texts;
  for (const Seat& seat : seating.seats) texts.push_back(list_text(seat.cores));
  return texts;
}

class SeatRanks : public testing::Test {
 protected:
  Seating seat(const Topology& topology, BindingMode mode, std::size_t ranks, std::size_t allowed,
               int threads = 1) {
    return seat(topology, mode, std::vector<Guest>(ranks, {first(allowed), ""}), threads);
  }
  Seating seat(const Topology& topology, BindingMode mode, const std::vector<Guest>& guests,
               int threads = 1) {
    claims.emplace(scratch.folder() / "cores");
    return seat_ranks(topology, mode, guests, threads, *claims);
  }

  Scratch scratch;
  std::optional<CoreClaims> claims;
};

TEST(ListText, IsWrittenAsTheKernelDoes) {
  EXPECT_EQ(list_text(cpus({0, 1, 2, 3, 8})), "0-3,8");
  EXPECT_EQ(list_text(cpus({1023})), "1023");
  EXPECT_EQ(list_text({}), "");
}

TEST(TopologyOf, HasCoresWithTheirThreadsAndNodes) {
  const Topology topology = machine("numa:2 core:4 pu:2");

  ASSERT_EQ(topology.cores.size(), 8u);
  EXPECT_EQ(topology.cores[4].threads, cpus({8, 9}));
  EXPECT_EQ(topology.cores[4].numa, 1);
  EXPECT_EQ(list_text(topology.nodes[1].threads), "8-15");
  EXPECT_EQ(to_text(topology), "8 cores with 2 threads each, 2 NUMA nodes, no GPU");
}

TEST(TopologyOf, TakesDevicesThatComputeAndNotTheDisplayOfAManagementController) {
  const Topology topology = two_gpus();

  ASSERT_EQ(topology.gpus.size(), 2u);
  EXPECT_EQ(topology.gpus[0].address, "0000:3b:00.0");
  EXPECT_EQ(list_text(topology.gpus[0].near), "0-1");
  EXPECT_EQ(list_text(topology.gpus[1].near), "2-3");
  EXPECT_EQ(topology.gpus[1].numa, 1);
}

TEST(TopologyOf, AWrongDescriptionIsUnavailable) {
  EXPECT_THROW(synthetic_topology("no such thing"), Unavailable);
}

// 4 ranks over 8 cores: every second core, its neighbour is left to helpers.
TEST_F(SeatRanks, AutomaticSpreadsOneCoreEachOverTheMachine) {
  const Seating seating = seat(machine("numa:2 core:4 pu:1"), BindingMode::automatic, 4, 8);

  EXPECT_THAT(cores_of(seating), ElementsAre("0", "2", "4", "6"));
  EXPECT_EQ(seating.seats[3].numa, 1);
  EXPECT_EQ(list_text(seating.seats[0].helpers), "1,3");
  EXPECT_EQ(list_text(seating.seats[3].helpers), "5,7");
}

TEST_F(SeatRanks, ACoreComesWithAllItsThreads) {
  const Seating seating = seat(machine("numa:1 core:2 pu:2"), BindingMode::automatic, 2, 4);

  EXPECT_THAT(cores_of(seating), ElementsAre("0-1", "2-3"));
}

TEST_F(SeatRanks, WhereEveryCoreHasARankHelpersGoAnywhere) {
  const Seating seating = seat(machine("numa:1 core:2 pu:1"), BindingMode::automatic, 2, 2);

  EXPECT_EQ(list_text(seating.seats[0].helpers), "0-1");
}

TEST_F(SeatRanks, AutomaticLeavesRanksThatOutnumberCores) {
  const Seating seating = seat(machine("numa:1 core:2 pu:1"), BindingMode::automatic, 3, 2);

  EXPECT_TRUE(seating.seats.empty());
  EXPECT_EQ(seating.said, "ranks are not bound: 3 ranks want 3 cores, they may use 2 cores");
  EXPECT_EQ(seating.refusal, "");
}

TEST_F(SeatRanks, AHelperThreadWantsACoreToo) {
  const Topology topology = machine("numa:1 core:4 pu:1");

  EXPECT_TRUE(seat(topology, BindingMode::automatic, 3, 4, 2).seats.empty());
  EXPECT_THAT(cores_of(seat(topology, BindingMode::automatic, 2, 4, 2)), ElementsAre("0", "2"));
}

TEST_F(SeatRanks, KeepsWithinWhatIsAllowed) {
  const Guest guest{cpus({4, 5, 6, 7}), ""};

  const Seating seating = seat(machine("numa:2 core:4 pu:1"), BindingMode::automatic, {guest, guest});

  EXPECT_THAT(cores_of(seating), ElementsAre("4", "6"));
}

TEST_F(SeatRanks, AutomaticLeavesWhatALauncherHasBound) {
  const Seating seating =
      seat(machine("numa:2 core:4 pu:1"), BindingMode::automatic, {{cpus({0}), ""}, {cpus({1}), ""}});

  EXPECT_TRUE(seating.seats.empty());
  EXPECT_EQ(seating.said, "ranks are not bound: the launcher has bound them already");
}

TEST_F(SeatRanks, CoreTakesOneOfWhatTheLauncherGaveEachRank) {
  const Topology topology = machine("numa:2 core:4 pu:1");

  const Seating apart = seat(topology, BindingMode::core, {{cpus({0, 1}), ""}, {cpus({0, 1, 2}), ""}});
  const Seating packed =
      seat(topology, BindingMode::core, {{cpus({0}), ""}, {cpus({0}), ""}, {cpus({1}), ""}});

  EXPECT_THAT(cores_of(apart), ElementsAre("0", "1"));
  EXPECT_THAT(packed.refusal, HasSubstr("no core of its own"));
}

TEST_F(SeatRanks, CoreIsRefusedWhereThereAreTooFew) {
  const Seating seating = seat(machine("numa:1 core:2 pu:1"), BindingMode::core, 3, 2);

  EXPECT_TRUE(seating.seats.empty());
  EXPECT_EQ(seating.refusal, "3 ranks, 2 cores");
}

TEST_F(SeatRanks, TwoRunsAtOnceSitOnDifferentCores) {
  const Topology topology = machine("numa:1 core:4 pu:1");
  const std::vector<Guest> two(2, {first(4), ""});
  std::vector<std::string> cores;
  {
    CoreClaims first_run(scratch.folder() / "cores"), second_run(scratch.folder() / "cores"),
        third_run(scratch.folder() / "cores");

    cores = cores_of(seat_ranks(topology, BindingMode::automatic, two, 1, first_run));
    const auto others = cores_of(seat_ranks(topology, BindingMode::automatic, two, 1, second_run));
    const Seating third = seat_ranks(topology, BindingMode::automatic, two, 1, third_run);

    cores.insert(cores.end(), others.begin(), others.end());
    EXPECT_THAT(cores, ElementsAre("0", "2", "1", "3"));
    EXPECT_TRUE(third.seats.empty());
    EXPECT_EQ(third.said, "ranks are not bound: 2 ranks, 4 cores, of which other runs have bound 4");
  }
  // They are free again when the runs have ended.
  EXPECT_THAT(cores_of(seat(topology, BindingMode::automatic, 4, 4)), ElementsAre("0", "1", "2", "3"));
}

TEST_F(SeatRanks, WithoutTheCommonFileNobodyIsBound) {
  CoreClaims nowhere(scratch.folder() / "no such folder" / "cores");
  const std::vector<Guest> one(1, {first(2), ""});

  const Seating seating = seat_ranks(machine("numa:1 core:2 pu:1"), BindingMode::automatic, one, 1, nowhere);

  EXPECT_TRUE(seating.seats.empty());
  EXPECT_THAT(seating.said, HasSubstr("it cannot be told which cores other runs use"));
}

TEST_F(SeatRanks, NumaDealsRanksOutInBlocksWithTheirMemory) {
  const Seating seating = seat(machine("numa:2 core:4 pu:1"), BindingMode::numa, 4, 8);

  EXPECT_THAT(cores_of(seating), ElementsAre("0-3", "0-3", "4-7", "4-7"));
  EXPECT_EQ(seating.seats[0].memory, 0);
  EXPECT_EQ(seating.seats[3].memory, 1);
}

TEST_F(SeatRanks, NumaTakesMoreRanksThanCores) {
  const Seating seating = seat(machine("numa:2 core:1 pu:1"), BindingMode::numa, 4, 2);

  EXPECT_THAT(cores_of(seating), ElementsAre("0", "0", "1", "1"));
}

TEST_F(SeatRanks, GpuSharesTheCoresNearAGpuAmongItsRanks) {
  const Seating seating = seat(two_gpus(), BindingMode::gpu, 4, 4);

  EXPECT_THAT(cores_of(seating), ElementsAre("0", "2", "1", "3"));
  EXPECT_EQ(seating.seats[1].gpu, "0000:86:00.0");
}

TEST_F(SeatRanks, ARankGoesNearTheGpuItsLibraryWorksOn) {
  const Seating seating =
      seat(two_gpus(), BindingMode::automatic, {{first(4), "0000:86:00.0"}, {first(4), "0000:3b:00.0"}});

  EXPECT_THAT(cores_of(seating), ElementsAre("2-3", "0-1"));
  EXPECT_EQ(seating.said, "every rank is on cores near its GPU");
}

TEST_F(SeatRanks, GpuIsRefusedWhereThereIsNone) {
  EXPECT_EQ(seat(machine("numa:1 core:2 pu:1"), BindingMode::gpu, 1, 2).refusal,
            "hwloc sees no GPU on this host");
}

TEST_F(SeatRanks, ATopologyFromElsewhereBindsNobody) {
  const Seating seating = seat(synthetic_topology("numa:1 core:2 pu:1"), BindingMode::automatic, 1, 2);

  EXPECT_TRUE(seating.seats.empty());
  EXPECT_THAT(seating.said, HasSubstr("HWLOC_"));
}

TEST(BindingModes, AreReadAndNamed) {
  for (const char* word : {"auto", "none", "core", "numa", "gpu"})
    EXPECT_STREQ(name_of(binding_mode(word)), word);
  EXPECT_THROW(binding_mode("cores"), UserError);
}

}  // namespace
}  // namespace dlnb
