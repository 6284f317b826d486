// SPDX-License-Identifier: Apache-2.0
// A collective as one coupled activity and the same as messages take the same time where nothing else is under way.
#include <gtest/gtest.h>

#include <set>

#include "executor/sim/program.hpp"
#include "executor/sim/sim.hpp"
#include "schedule/schedule.hpp"
#include "unit/sim/world.hpp"

namespace dlnb {
namespace {

using enum OperationKind;

/// The algorithm's name and what it does.
struct Way {
  const char* algorithm;
  OperationKind kind;
};

constexpr double start_of_step = 3e-6;

double end_of(const Schedule& schedule, const Machine& machine) {
  const Trace trace = simulate(schedule, machine, world::linear(schedule), world::spec());
  std::int64_t last = 0;
  for (const RankTrace& rank : trace.ranks) last = std::max(last, rank.end_of(0));
  return world::at(last);
}

std::vector<Member> members_on(const Machine& machine, std::int64_t ranks) {
  std::vector<Member> members;
  for (int i = 0; i < ranks; ++i)
    members.push_back({i, machine.node_of(i), machine.nics_per_node > 0 ? machine.nic_of(i) : 0});
  return members;
}

struct Times {
  double coupled, lowered;
};

/// A step and a message cost the same in software.
Times both(Way way, Machine machine, std::int64_t ranks, std::int64_t bytes) {
  machine.software.step = machine.software.message_start = {start_of_step};
  machine.software.forced = way.algorithm;
  const Schedule schedule = world::same({{"data", ranks}}, {world::collective(way.kind, 1, bytes)});
  const Collective& algorithm = entry_called(collectives::all(), way.algorithm, "test");
  const Schedule lowered = lower(schedule, {&algorithm, members_on(machine, ranks), "test"});
  EXPECT_EQ(check(lowered), std::vector<std::string>{});
  return {end_of(schedule, machine), end_of(lowered, machine)};
}

class InSteps : public testing::TestWithParam<Way> {};

// Every step moves a part of its own over links that are its own: both forms are Σ over steps of (α + part/β).
// Times are whole nanoseconds in the trace: one per step at most.
TEST_P(InSteps, TakesTheSameAsMessages) {
  for (const std::int64_t ranks : {2, 4, 8, 16})
    for (const std::int64_t bytes : {16 << 10, 16 << 20}) {
      const Machine machine = world::one_node(world::Star(int(ranks), 25e9, 1e-6));

      const Times times = both(GetParam(), machine, ranks, bytes);

      EXPECT_GT(times.coupled, double(bytes) / 25e9 / 2);
      EXPECT_NEAR(times.lowered, times.coupled, 1e-9 * double(2 * ranks)) << ranks << " ranks, " << bytes;
    }
}
INSTANTIATE_TEST_SUITE_P(Rings, InSteps,
                         testing::Values(Way{"ring", all_reduce}, Way{"ring", all_gather},
                                         Way{"ring", reduce_scatter}));
INSTANTIATE_TEST_SUITE_P(Halving, InSteps,
                         testing::Values(Way{"halving_doubling", all_reduce},
                                         Way{"halving_doubling", all_gather},
                                         Way{"halving_doubling", reduce_scatter}));
INSTANTIATE_TEST_SUITE_P(Exchange, InSteps,
                         testing::Values(Way{"pairwise", all_to_all}, Way{"direct", all_to_all}));

// Data moves on in 32 pieces, and every round pays a step's latency: 31 more than the coupled form counts, where pieces
// follow each other for nothing.
constexpr double latencies_of_pieces = 31 * (start_of_step + 2e-6);

// How the first pieces share links with those behind them is a half of a piece's time per node in the coupled form, and
// depends on which of a node's two children is ahead in the lowered one: 4 %.
TEST(Trees, TakeTheSameAsMessagesButForThePiecesLatencies) {
  for (const int nodes : {2, 4, 8, 13}) {
    const std::int64_t bytes = 256 << 20;
    Machine machine = world::cluster(nodes, 2, 300e9, 25e9, 1e-6);
    machine.software.piece = {bytes / 32};

    const Times times = both({"tree", all_reduce}, machine, nodes * 2, bytes);

    EXPECT_NEAR(times.lowered - latencies_of_pieces, times.coupled, 0.04 * times.coupled)
        << nodes << " nodes";
  }
}

TEST(Chains, TakeTheSameAsMessagesButForThePiecesLatencies) {
  for (const int ranks : {2, 4, 16}) {
    const std::int64_t bytes = 256 << 20;
    Machine machine = world::one_node(world::Star(ranks, 25e9, 1e-6));
    machine.software.piece = {bytes / 32};

    const Times times = both({"chain", broadcast}, machine, ranks, bytes);

    EXPECT_NEAR(times.lowered - latencies_of_pieces, times.coupled, 1e-6) << ranks << " ranks";
  }
}

TEST(Hierarchical, IsSlowerAsMessagesByThePhaseThatDoesNotOverlap) {
  const Machine machine = world::cluster(4, 4, 100e9, 25e9);
  const std::int64_t bytes = 64 << 20;

  const Times times = both({"hierarchical", all_reduce}, machine, 16, bytes);

  // Inside a node 2·3/4·S/100 GB/s, between nodes 2·3/4·S/4/25 GB/s: equal, so that the phases take twice as long.
  const double phase = 1.5 * double(bytes) / 100e9, latencies = (2 + 6) * start_of_step;
  EXPECT_NEAR(times.coupled, latencies + phase, 1e-8);
  EXPECT_NEAR(times.lowered, latencies + 2 * phase, 1e-8);
}

TEST(Lowered, SchedulesKeepMessagesComputeAndWaits) {
  const Schedule schedule =
      world::staged({{"pipeline", 2}, {"data", 2}},
                    {{world::compute(1), world::send(1, 1, 1000, 0), world::all_reduce(2, 4096, 1),
                      world::wait(1, 0), world::wait(2, 1)},
                     {world::recv(1, 0, 1000), world::compute(1), world::all_reduce(2, 4096)}});
  ASSERT_EQ(check(schedule), std::vector<std::string>{});

  const Schedule lowered = lower(schedule, {nullptr, {}, "test"});

  EXPECT_EQ(check(lowered), std::vector<std::string>{});
  ASSERT_EQ(lowered.programs.size(), 4u);
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    std::int64_t sent = 0, computes = 0;
    for (const Operation& operation : lowered.programs[std::size_t(rank)].operations) {
      EXPECT_FALSE(is_collective(operation.kind));
      computes += operation.kind == compute;
      sent += operation.elements_sent;
    }
    EXPECT_EQ(computes, 1);
    // Two members: half the vector, twice; the first stage's 1000 on top.
    EXPECT_EQ(sent, 4096 + (rank % 2 == 0 ? 1000 : 0)) << rank;
  }
  // Rank 0 is (0, 0); its peer along the pipeline is rank 1, in its data group rank 2.
  EXPECT_EQ(lowered.programs[0].operations[1].peer, 1);
  EXPECT_EQ(lowered.programs[0].operations[2].peer, 2);
}

// Ranks of a ring do the same with other peers; where a vector is cut unevenly, some send more.
TEST(Lowered, RanksThatDoTheSameShareTheirActions) {
  const auto lists = [](std::int64_t bytes) {
    const Schedule lowered =
        lower(world::same({{"data", 4}}, {world::all_reduce(1, bytes)}), {nullptr, {}, "test"});
    std::vector<sim::Role> roles;
    std::set<const sim::Action*> different;
    for (const Program& program : lowered.programs) {
      roles.push_back(sim::reduce(program, lowered.grid));
      sim::share_actions(roles);
      different.insert(roles.back().actions.data());
      EXPECT_EQ(roles.back().actions, sim::reduce(program, lowered.grid).actions);
      EXPECT_EQ(roles.back().targets, sim::reduce(program, lowered.grid).targets);
    }
    return different.size();
  };

  EXPECT_EQ(lists(4096), 1u);
  EXPECT_GT(lists(4097), 1u);
}

TEST(Lowered, AlgorithmsOfSwitchesAreRefused) {
  const Collective& nvls = entry_called(collectives::all(), "nvls", "test");
  const Schedule schedule = world::same({{"data", 4}}, {world::all_reduce(1, 4096)});

  EXPECT_THROW(lower(schedule, {&nvls, {}, "--lower"}), UserError);
}

}  // namespace
}  // namespace dlnb
