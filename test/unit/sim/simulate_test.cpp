// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/sim.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "world.hpp"

namespace dlnb {
namespace {

using namespace world;

constexpr std::int64_t MB = 1'000'000;
constexpr double MBps = 1e6;
constexpr double nanosecond = 1e-9;

Trace run(const Schedule& schedule, const Machine& machine, int iterations = 1, int warmup = 0) {
  return simulate(schedule, machine, linear(schedule), spec(iterations, warmup));
}

Interval operation(const Trace& trace, std::size_t rank, std::size_t index) {
  return trace.ranks[rank].iteration(0)[index];
}

// --- collectives ------------------------------------------------------------------------------------------

TEST(Collectives, RingAllReduceTakesItsClosedForm) {
  const int n = 4;
  const double alpha = 3e-6, beta = 100 * MBps, size = 8e6;
  const Machine machine = one_node(Star(n, beta, alpha / 2));  // a path is one cable up and one down

  const Trace trace = run(same({{"data", n}}, {all_reduce(1, std::int64_t(size))}), machine);

  EXPECT_NEAR(at(operation(trace, 0, 0).end), 2 * (n - 1) * (alpha + size / (n * beta)), nanosecond);
}

TEST(Collectives, PayForSoftwareOncePerCollectiveAndPerStep) {
  Machine machine = one_node(Star(3, 100 * MBps, 0));
  machine.software = {.collective_start = {1e-3}, .step = {1e-5}, .message_start = {0}, .efficiency = 0.5};

  const Trace trace = run(same({{"data", 3}}, {collective(OperationKind::all_gather, 1, 3 * MB)}), machine);

  // 2 steps; 2/3 of 3 MB at half of 100 MB/s.
  EXPECT_NEAR(at(operation(trace, 0, 0).end), 1e-3 + 2 * 1e-5 + 2e6 / 50e6, nanosecond);
}

TEST(Collectives, UseTheNicsOfANodeAtOnce) {
  const Machine machine = cluster(2, 2, 1e12, 10 * MBps);

  const Trace trace = run(same({{"data", 4}}, {collective(OperationKind::all_gather, 1, 20 * MB)}), machine);

  // 3/4 of 20 MB, half of it over each of two NICs with 10 MB/s.
  EXPECT_NEAR(at(operation(trace, 3, 0).end), 3.0 / 4 * 20 / 2 / 10, 1e-4);
}

TEST(Collectives, ReduceInTreesWhereThatIsFaster) {
  const double alpha = 0.01;  // of a path between nodes
  const Machine machine = cluster(8, 1, 1e12, 10 * MBps, alpha / 2);
  const auto seconds = [&](std::int64_t bytes) {
    return at(operation(run(same({{"data", 8}}, {all_reduce(1, bytes)}), machine), 0, 0).end);
  };

  // Small: depth 3 of a tree of 8, up and down, against 2·7 steps around the ring. Large: 2·7/8 of the vector
  // per NIC in the ring, twice the vector in the trees.
  EXPECT_NEAR(seconds(0), 2 * 3 * alpha, nanosecond);
  EXPECT_NEAR(seconds(20 * MB), 2 * 7 * alpha + 2.0 * 7 / 8 * 20 / 10, nanosecond);
}

TEST(Collectives, UseAllCablesOfAFullMesh) {
  const Trace trace = run(same({{"tensor", 4}}, {all_reduce(1, 20 * MB)}), one_node(Mesh(4, 10 * MBps, 0)));

  // 2·3/4 of 20 MB leave each device over three cables with 10 MB/s.
  EXPECT_NEAR(at(operation(trace, 0, 0).end), 2.0 * 3 / 4 * 20 / (3 * 10), nanosecond);
}

TEST(Collectives, AllToAllSendsAllButTheOwnPart) {
  const Trace trace = run(same({{"expert", 4}}, {collective(OperationKind::all_to_all, 1, 20 * MB)}),
                          one_node(Star(4, 10 * MBps, 0)));

  EXPECT_NEAR(at(operation(trace, 2, 0).end), 3.0 / 4 * 20 / 10, nanosecond);
}

TEST(Collectives, StartWhenTheLastHasArrived) {
  const Schedule schedule =
      staged({{"pipeline", 2}}, {{compute(1), all_reduce(1, 10 * MB)}, {compute(3), all_reduce(1, 10 * MB)}});

  const Trace trace = run(schedule, one_node(Star(2, 10 * MBps, 0)));

  // Two ranks all-reduce S in S/β.
  EXPECT_NEAR(at(operation(trace, 0, 1).begin), 1, nanosecond);
  EXPECT_NEAR(at(operation(trace, 1, 1).begin), 3, nanosecond);
  EXPECT_NEAR(at(operation(trace, 0, 1).end), 3 + 1, nanosecond);
  EXPECT_EQ(operation(trace, 0, 1).end, operation(trace, 1, 1).end);
}

TEST(Collectives, OverlapComputeUntilTheyAreWaitedFor) {
  const Schedule schedule = same({{"data", 2}}, {all_reduce(1, 10 * MB, 0), compute(3),
                                                 all_reduce(1, 10 * MB, 1), compute(0.25), wait(1, 1)});

  const Trace trace = run(schedule, one_node(Star(2, 10 * MBps, 0)));

  EXPECT_EQ(operation(trace, 0, 0).end, 0);
  EXPECT_NEAR(at(operation(trace, 0, 0).completed), 1, nanosecond);
  EXPECT_NEAR(at(operation(trace, 0, 4).begin), 3.25, nanosecond);
  EXPECT_NEAR(at(operation(trace, 0, 4).end), 3 + 1, nanosecond);
}

TEST(Collectives, OfOneCommunicatorRunOneAfterTheOther) {
  const Schedule schedule = same({{"data", 2}}, {all_reduce(1, 20 * MB, 0), all_reduce(1, 10 * MB, 1),
                                                 wait(1, 0), compute(0.5), wait_all(1)});

  const Trace trace = run(schedule, one_node(Star(2, 10 * MBps, 0)));

  EXPECT_NEAR(at(operation(trace, 0, 0).completed), 2, nanosecond);
  EXPECT_NEAR(at(operation(trace, 0, 1).completed), 2 + 1, nanosecond);
  EXPECT_NEAR(at(operation(trace, 0, 2).end), 2, nanosecond);
  EXPECT_NEAR(at(operation(trace, 0, 4).begin), 2.5, nanosecond);
  EXPECT_NEAR(at(operation(trace, 0, 4).end), 3, nanosecond);
}

TEST(Collectives, OfDifferentCommunicatorsShareTheLinks) {
  const AxisSet fast = 1, slow = 2;
  const Schedule schedule =
      same({{"fast", 2}, {"slow", 2}},
           {all_reduce(fast, 10 * MB, 0), all_reduce(slow, 10 * MB, 1), wait_all(fast), wait_all(slow)});

  const Trace trace = run(schedule, one_node(Star(4, 10 * MBps, 0)));

  EXPECT_NEAR(at(operation(trace, 0, 0).completed), 1 + 1, nanosecond);
  EXPECT_NEAR(at(operation(trace, 0, 1).completed), 1 + 1, nanosecond);
}

TEST(Collectives, OverManyOutstandingOperationsKeepTheirOrder) {
  // Three blocking ones of 0.1 s first; then the second stage is 5 s late and 40 of the first are
  // outstanding.
  const int blocking = 3, outstanding = 40;
  std::vector<Operation> early(blocking, all_reduce(1, MB));
  std::vector<Operation> late = early;
  late.push_back(compute(5));
  for (int k = 0; k < outstanding; ++k) {
    early.push_back(all_reduce(1, MB, k));
    late.push_back(all_reduce(1, MB, k));
  }
  early.push_back(wait_all(1));
  late.push_back(wait_all(1));

  const Trace trace = run(staged({{"pipeline", 2}}, {early, late}), one_node(Star(2, 10 * MBps, 0)), 2);

  for (int k = 0; k < outstanding; ++k)
    EXPECT_NEAR(at(operation(trace, 0, std::size_t(blocking + k)).completed), 0.3 + 5 + 0.1 * (k + 1),
                nanosecond)
        << k;
  EXPECT_NEAR(at(operation(trace, 0, blocking + outstanding).end), 0.3 + 5 + 4, nanosecond);
}

TEST(Collectives, OfOneRankCostNothing) {
  Machine machine = one_node(Star(2, 10 * MBps, 1));
  machine.software.collective_start = {1};
  const Schedule schedule =
      same({{"tensor", 1}, {"data", 2}}, {all_reduce(1, MB, 0), wait(1, 0), all_reduce(1, MB)});

  const Trace trace = run(schedule, machine);

  EXPECT_EQ(trace.ranks[0].end_of(0), 0);
}

TEST(Collectives, WithoutBytesOrLatencyTakeNoTime) {
  const Schedule schedule = same({{"data", 4}}, {all_reduce(1, 0), collective(OperationKind::barrier, 1, 0),
                                                 collective(OperationKind::all_to_all, 1, 0)});

  const Trace trace = run(schedule, one_node(Star(4, MBps, 0)), 3, 1);

  EXPECT_EQ(trace.ranks[3].end_of(2), 0);
}

// --- messages ------------------------------------------------------------------------------------------

TEST(Messages, WaitForBothEndsAndThenForTheData) {
  const Schedule schedule = staged(
      {{"pipeline", 2}}, {{compute(1), send(1, 1, 10 * MB), compute(1)}, {compute(4), recv(1, 0, 10 * MB)}});
  Machine machine = one_node(Star(2, 10 * MBps, 0.25));
  machine.software.message_start = {0.125};

  const Trace trace = run(schedule, machine);

  EXPECT_NEAR(at(operation(trace, 0, 1).begin), 1, nanosecond);
  EXPECT_NEAR(at(operation(trace, 0, 1).end), 4 + 0.125 + 2 * 0.25 + 1, nanosecond);
  EXPECT_EQ(operation(trace, 0, 1).end, operation(trace, 1, 1).end);
}

TEST(Messages, ThatAreSmallLeaveAtOnce) {
  const Schedule schedule =
      staged({{"pipeline", 2}}, {{send(1, 1, 1000), compute(1)}, {compute(4), recv(1, 0, 1000)}});

  const Trace trace = run(schedule, one_node(Star(2, MBps, 0)));

  EXPECT_EQ(operation(trace, 0, 0).end, 0);
  EXPECT_NEAR(at(operation(trace, 0, 0).completed), 1000 / MBps, nanosecond);
  EXPECT_NEAR(at(trace.ranks[0].end_of(0)), 1, nanosecond);
  EXPECT_NEAR(at(operation(trace, 1, 1).begin), 4, nanosecond);
  EXPECT_NEAR(at(operation(trace, 1, 1).end), 4, nanosecond);
}

TEST(Messages, OfOnePairArriveInOrder) {
  const Schedule schedule =
      staged({{"pipeline", 2}}, {{send(1, 1, 30 * MB, 0), send(1, 1, 10 * MB, 1), wait(1, 0), wait_all(1)},
                                 {recv(1, 0, 30 * MB, 0), recv(1, 0, 10 * MB, 1), wait(1, 1), wait_all(1)}});

  const Trace trace = run(schedule, one_node(Star(2, 10 * MBps, 0)));

  EXPECT_NEAR(at(operation(trace, 0, 2).end), 3, nanosecond);
  EXPECT_NEAR(at(operation(trace, 1, 0).completed), 3, nanosecond);
  EXPECT_NEAR(at(operation(trace, 1, 2).end), 3 + 1, nanosecond);
}

TEST(Messages, InOppositeDirectionsDoNotWaitForEachOther) {
  const Schedule schedule =
      staged({{"pipeline", 2}}, {{send(1, 1, 10 * MB, 0), recv(1, 1, 10 * MB), wait(1, 0)},
                                 {send(1, 0, 10 * MB, 0), recv(1, 0, 10 * MB), wait(1, 0)}});

  const Trace trace = run(schedule, one_node(Star(2, 10 * MBps, 0)));

  EXPECT_NEAR(at(trace.ranks[0].end_of(0)), 1, nanosecond);
}

TEST(Messages, ShareALinkMaxMinFairly) {
  // Two pairs on a bus of 10 MB/s. Until the first 10 MB are over both have 5 MB/s, then the second has all:
  // 10/5 = 2 s, and (20 - 10)/10 = 1 s more.
  const Schedule schedule =
      staged({{"pipeline", 4}},
             {{send(1, 1, 10 * MB)}, {recv(1, 0, 10 * MB)}, {send(1, 3, 20 * MB)}, {recv(1, 2, 20 * MB)}});

  const Trace trace = run(schedule, one_node(Bus(4, 10 * MBps, 0)));

  EXPECT_NEAR(at(operation(trace, 1, 0).end), 2, nanosecond);
  EXPECT_NEAR(at(operation(trace, 3, 0).end), 2 + 1, nanosecond);
}

// --- iterations ------------------------------------------------------------------------------------------

TEST(Iterations, FollowEachOtherAndWarmUpIsNotInTheTrace) {
  const Schedule schedule = same({{"data", 2}}, {compute(1), all_reduce(1, 10 * MB)});

  const Trace trace = run(schedule, one_node(Star(2, 10 * MBps, 0)), 3, 2);

  ASSERT_EQ(trace.iterations, 3);
  ASSERT_EQ(trace.ranks[1].operations(), 2u);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(at(trace.ranks[1].begin_of(std::size_t(k))), 2.0 * (k + 2), nanosecond);
    EXPECT_NEAR(at(trace.ranks[1].end_of(std::size_t(k))), 2.0 * (k + 3), nanosecond);
  }
}

TEST(Iterations, OfRanksInStepAreKeptOnce) {
  const Schedule together = same({{"data", 4}}, {compute(1), all_reduce(1, 10 * MB)});
  const Schedule apart = staged({{"pipeline", 2}}, {{send(1, 1, 10 * MB)}, {recv(1, 0, 10 * MB)}});
  const Machine machine = one_node(Star(4, 10 * MBps, 0));

  const Trace shared = run(together, machine), own = run(apart, machine);

  for (const RankTrace& rank : shared.ranks)
    EXPECT_EQ(rank.simulated.values.get(), shared.ranks[0].simulated.values.get());
  EXPECT_NE(own.ranks[0].simulated.values.get(), own.ranks[1].simulated.values.get());
  // Two operations: two begins and an end; the rank waits for both.
  EXPECT_EQ(shared.ranks[3].simulated.form->values(), 3u);
}

/// `microbatches` forward and backward through `stages`, then gradients over the data axis (GPipe).
Schedule pipeline(int stages, int replicas, int microbatches, std::int64_t activation,
                  std::int64_t gradients) {
  const double forward = 0.01;
  std::vector<std::vector<Operation>> programs;
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Operation> program;
    for (int m = 0; m < microbatches; ++m) {
      if (stage > 0) program.push_back(recv(1, stage - 1, activation));
      program.push_back(compute(forward));
      if (stage + 1 < stages) program.push_back(send(1, stage + 1, activation));
    }
    for (int m = 0; m < microbatches; ++m) {
      if (stage + 1 < stages) program.push_back(recv(1, stage + 1, activation));
      program.push_back(compute(2 * forward));
      if (stage > 0) program.push_back(send(1, stage - 1, activation));
    }
    program.push_back(all_reduce(2, gradients));
    programs.push_back(std::move(program));
  }
  return staged({{"pipeline", stages}, {"data", replicas}}, std::move(programs));
}

TEST(Iterations, OfAPipelineWithEmptyMessagesAreItsBubble) {
  const int stages = 8, microbatches = 16;
  Machine machine = cluster(4, 4, 1e11, 1e10, 2e-6);
  machine.software = {.collective_start = {1e-5}, .step = {1e-6}, .message_start = {5e-6}, .efficiency = 0.9};
  const Schedule schedule = pipeline(stages, 2, microbatches, 0, 0);

  const Trace trace = run(schedule, machine, 3, 1);

  double mean = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    double largest = 0;
    for (const RankTrace& rank : trace.ranks) {
      const auto& operations = schedule.program_of(rank.rank).operations;
      std::int64_t waited = 0;
      for (std::size_t i = 0; i < operations.size(); ++i) {
        const Interval interval = rank.iteration(k)[i];
        if (operations[i].kind != OperationKind::compute) waited += interval.end - interval.begin;
      }
      largest = std::max(largest, double(waited) / double(rank.end_of(k) - rank.begin_of(k)));
    }
    mean += largest / 3;
  }
  EXPECT_NEAR(mean, double(stages - 1) / (microbatches + stages - 1), 0.005);  // 7/23
}

TEST(Iterations, TileEveryRanksTimeAndRepeatBitByBit) {
  Machine machine = cluster(4, 4, 1e9, 1e8, 3e-6);
  machine.software = {.collective_start = {1e-5}, .step = {1e-6}, .message_start = {5e-6}, .efficiency = 0.9};
  const Schedule schedule = pipeline(4, 4, 6, 200'000, 30 * MB);

  const Trace trace = run(schedule, machine, 3, 1), again = run(schedule, machine, 3, 1);

  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    const RankTrace& rank = trace.ranks[r];
    const std::size_t operations = rank.operations();
    ASSERT_EQ(operations, schedule.program_of(rank.rank).operations.size());
    for (std::size_t k = 0; k < 3; ++k) {
      std::int64_t now = rank.begin_of(k);
      EXPECT_TRUE(k == 0 || now == rank.end_of(k - 1));
      for (std::size_t i = 0; i < operations; ++i) {
        const Interval interval = rank.iteration(k)[i], repeated = again.ranks[r].iteration(k)[i];
        EXPECT_EQ(interval.begin, now);
        EXPECT_GE(interval.end, interval.begin);
        EXPECT_GE(interval.completed, interval.end);
        EXPECT_EQ(interval.begin, repeated.begin);
        EXPECT_EQ(interval.end, repeated.end);
        EXPECT_EQ(interval.completed, repeated.completed);
        now = interval.end;
      }
      EXPECT_EQ(now, rank.end_of(k));
    }
  }
}

TEST(Iterations, TakeNoTimeWhereARoleHasNothingToDo) {
  const Trace trace = run(staged({{"pipeline", 2}}, {{compute(1)}, {}}), one_node(Star(2, MBps, 0)), 2, 1);

  EXPECT_NEAR(at(trace.ranks[0].end_of(1)), 3, nanosecond);
  EXPECT_EQ(trace.ranks[1].end_of(1), 0);
}

// --- refusals ------------------------------------------------------------------------------------------

TEST(Refusals, NameWhatIsWrong) {
  const Schedule schedule = same({{"data", 2}}, std::vector<Operation>(100, compute(1)));
  const Machine machine = one_node(Star(2, MBps, 0));
  RunSpec endless = spec(2'000'000'000), none = spec(0), unknown = spec(1);
  unknown.network = "max_mim";
  Operation read;
  read.kind = OperationKind::storage_read;

  EXPECT_THROW(simulate(schedule, machine, linear(schedule), endless), UserError);
  EXPECT_THROW(simulate(schedule, machine, linear(schedule), none), UserError);
  EXPECT_THROW(simulate(schedule, machine, linear(schedule), unknown), UserError);
  EXPECT_THROW(run(same({{"data", 2}}, {read}), machine), Unavailable);
}

TEST(RefusalsDeathTest, ADeadlockIsOurMistakeAndNamesRankAndOperation) {
  const Schedule schedule = staged({{"pipeline", 2}}, {{compute(1), recv(1, 1, 10)}, {recv(1, 0, 10)}});

  EXPECT_DEATH(run(schedule, one_node(Star(2, MBps, 0))), "rank 0 waits in operation 1 \\(recv\\)");
}

}  // namespace
}  // namespace dlnb
