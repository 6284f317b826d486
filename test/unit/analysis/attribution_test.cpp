// SPDX-License-Identifier: Apache-2.0
#include "analysis/attribution.hpp"

#include <gtest/gtest.h>

#include "unit/analysis/world.hpp"

namespace dlnb {
namespace {

using namespace world;

const std::vector<Axis> two_data{{"data", 2}};
const std::vector<Axis> two_stages{{"pipeline", 2}};
constexpr AxisSet first_axis = 1, second_axis = 2;

TEST(Attribution, SplitsABlockingCollectiveAtTheLastArrival) {
  const Schedule schedule = one_role(two_data, {compute(), all_reduce(first_axis)});
  const Trace trace = one_iteration(100, {{at(0, 10), at(10, 100)}, {at(0, 60), at(60, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{10, 100 - 60, 60 - 10, 0}));
  EXPECT_EQ(parts(of[1]), (Parts{60, 100 - 60, 0, 0}));
}

TEST(Attribution, CountsTimeOutsideOperationsAsCompute) {
  const Schedule schedule = one_role(two_data, {all_reduce(first_axis)});
  const Trace trace = one_iteration(100, {{at(20, 70)}, {at(30, 70)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{20 + 30, 70 - 30, 30 - 20, 0}));
  EXPECT_EQ(parts(of[1]), (Parts{30 + 30, 70 - 30, 0, 0}));
}

TEST(Attribution, MatchesCollectivesOfOneGroupOnly) {
  // data = 2 fastest, tensor = 2: the data groups are {0, 1} and {2, 3}.
  const Schedule schedule = one_role({{"data", 2}, {"tensor", 2}}, {all_reduce(first_axis)});
  const Trace trace = one_iteration(100, {{at(10, 50)}, {at(20, 50)}, {at(10, 100)}, {at(90, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(of[0].straggler_wait, 20 - 10);
  EXPECT_EQ(of[2].straggler_wait, 90 - 10);
}

TEST(Attribution, MatchesTheNthCollectiveOfAKind) {
  const Schedule schedule = one_role(two_data, {all_reduce(first_axis), all_reduce(first_axis)});
  const Trace trace = one_iteration(100, {{at(0, 40), at(40, 100)}, {at(30, 40), at(60, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(of[0].straggler_wait, (30 - 0) + (60 - 40));
  EXPECT_EQ(of[0].transfer, (40 - 30) + (100 - 60));
}

TEST(Attribution, MatchesCollectivesAcrossRolesWhoseProgramsDiffer) {
  // The world's all-reduce is operation 1 of stage 0 and operation 2 of stage 1.
  const Schedule schedule = roles({{"pipeline", 2}, {"data", 2}}, 0,
                                  {{compute(), all_reduce(first_axis | second_axis)},
                                   {compute(), compute(), all_reduce(first_axis | second_axis)}});
  const Trace trace = one_iteration(100, {{at(0, 10), at(10, 100)},
                                          {at(0, 10), at(10, 80), at(80, 100)},
                                          {at(0, 20), at(20, 100)},
                                          {at(0, 10), at(10, 30), at(30, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{10, 20, 80 - 10, 0}));
  EXPECT_EQ(parts(of[1]), (Parts{80, 20, 0, 0}));
  EXPECT_EQ(parts(of[2]), (Parts{20, 20, 80 - 20, 0}));
  EXPECT_EQ(parts(of[3]), (Parts{30, 20, 80 - 30, 0}));
}

TEST(Attribution, CountsAReceiveBeforeItsSenderPostedAsBubble) {
  const Schedule schedule =
      roles(two_stages, 0, {{compute(), send(first_axis, 1)}, {recv(first_axis, 0), compute()}});
  const Trace trace = one_iteration(100, {{at(0, 40), at(40, 50)}, {at(0, 50), at(50, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{100 - 10, 10, 0, 0}));
  EXPECT_EQ(parts(of[1]), (Parts{50, 50 - 40, 0, 40}));
}

TEST(Attribution, CountsASendBeforeItsReceiverPostedAsStraggler) {
  const Schedule schedule = roles(two_stages, 0, {{send(first_axis, 1)}, {compute(), recv(first_axis, 0)}});
  const Trace trace = one_iteration(50, {{at(0, 50)}, {at(0, 30), at(30, 50)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{0, 20, 30, 0}));
  EXPECT_EQ(parts(of[1]), (Parts{30, 20, 0, 0}));
}

TEST(Attribution, MatchesMessagesByOrderedPair) {
  // Stage 1 receives from 0 and from 2; each receive waits for its own sender.
  const Schedule schedule = roles({{"pipeline", 3}}, 0,
                                  {{compute(), send(first_axis, 1)},
                                   {recv(first_axis, 2), recv(first_axis, 0)},
                                   {compute(), send(first_axis, 1)}});
  const Trace trace =
      one_iteration(100, {{at(0, 70), at(70, 80)}, {at(0, 30), at(30, 80)}, {at(0, 20), at(20, 30)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[1]), (Parts{100 - 80, (30 - 20) + (80 - 70), 0, 20 + (70 - 30)}));
}

TEST(Attribution, MatchesMessagesOfReplicasApart) {
  // pipeline = 2 fastest, data = 2: stage 1 of the second replica is rank 3 and its sender rank 2.
  const Schedule schedule =
      roles({{"pipeline", 2}, {"data", 2}}, 0, {{compute(), send(first_axis, 1)}, {recv(first_axis, 0)}});
  const Trace trace =
      one_iteration(100, {{at(0, 10), at(10, 100)}, {at(0, 100)}, {at(0, 90), at(90, 100)}, {at(0, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(of[1].pipeline_bubble, 10);
  EXPECT_EQ(of[3].pipeline_bubble, 90);
}

TEST(Attribution, MatchesMessagesWithinOneRole) {
  // Along an axis that does not choose the program: everyone sends to 0, which also sends to itself in the
  // program.
  const Schedule schedule = one_role(
      two_data, {start(recv(first_axis, 1), 0), start(send(first_axis, 1), 1), start(recv(first_axis, 0), 2),
                 start(send(first_axis, 0), 3), wait_all(first_axis)});
  const Trace trace =
      one_iteration(100, {{at(0, 0, 100), at(0, 0, 100), at(0, 0, 0), at(0, 0, 0), at(0, 100)},
                          {at(40, 40, 40), at(40, 40, 40), at(40, 40, 100), at(40, 40, 100), at(40, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{0, 100 - 40, 0, 40}));  // receives from rank 1, which comes at 40
  EXPECT_EQ(parts(of[1]), (Parts{40, 60, 0, 0}));
}

TEST(Attribution, CountsIssuingAsComputeAndOnlyTheRestOfTheWaitAsExposed) {
  const Operation reduce = start(all_reduce(first_axis), 7);
  const Schedule schedule = one_role(two_data, {reduce, compute(), wait(reduce)});
  const Trace trace =
      one_iteration(100, {{at(0, 5, 90), at(5, 60), at(60, 90)}, {at(70, 72, 90), at(72, 80), at(80, 90)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{60 + 10, 90 - 70, 70 - 60, 0}));
  EXPECT_EQ(parts(of[1]), (Parts{80 + 10, 90 - 80, 0, 0}));
}

TEST(Attribution, CountsNothingForAWaitOnWhatIsComplete) {
  const Operation reduce = start(all_reduce(first_axis), 0);
  const Schedule schedule = one_role(two_data, {reduce, compute(), wait(reduce)});
  const Trace trace =
      one_iteration(60, {{at(0, 0, 50), at(0, 60), at(60, 60)}, {at(0, 0, 50), at(0, 60), at(60, 60)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{60, 0, 0, 0}));
}

TEST(Attribution, WalksWaitedOperationsInOrderOfCompletion) {
  // Rank 0 waits for both from 0. First: everyone there at 20, complete at 40. Second: there at 60, complete
  // at 100.
  const Operation first = start(all_reduce(first_axis), 0), second = start(all_reduce(first_axis), 1);
  const Schedule schedule = one_role(two_data, {first, second, wait_all(first_axis)});
  const Trace trace = one_iteration(
      100, {{at(0, 0, 40), at(0, 0, 100), at(0, 100)}, {at(20, 20, 40), at(60, 60, 100), at(60, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{0, (40 - 20) + (100 - 60), 20 + (60 - 40), 0}));
}

// Stage 0 receives from and sends to stage 1, which receives first, computes and then sends.
Schedule exchange() {
  return roles(two_stages, 0,
               {{start(recv(first_axis, 1), 0), start(send(first_axis, 1), 1), wait_all(first_axis)},
                {recv(first_axis, 0), compute(), send(first_axis, 0)}});
}

TEST(Attribution, DoesNotWaitWhileAnotherWaitedOperationTransfers) {
  // The send transfers from 10 to 100; that the other side of the receive comes at 50 costs nothing.
  const Trace trace =
      one_iteration(100, {{at(0, 0, 60), at(0, 0, 100), at(0, 100)}, {at(10, 30), at(30, 50), at(50, 60)}});

  const auto of = breakdowns(exchange(), trace);

  EXPECT_EQ(parts(of[0]), (Parts{0, 100 - 10, 0, 10}));
}

TEST(Attribution, DoesNotCountABufferedSendAsTransferring) {
  // The same, but the send goes on after the wait has ended: it did not hold the rank.
  const Trace trace =
      one_iteration(100, {{at(0, 0, 60), at(0, 0, 100), at(0, 60)}, {at(10, 30), at(30, 50), at(50, 60)}});

  const auto of = breakdowns(exchange(), trace);

  EXPECT_EQ(parts(of[0]), (Parts{100 - 60, 60 - 50, 0, 50}));
}

TEST(Attribution, NamesTheCauseOfWaitingByWhatCompletesNext) {
  // Stage 1 sends at 30 and receives at 80.
  const Schedule schedule =
      roles(two_stages, 0,
            {{start(recv(first_axis, 1), 0), start(send(first_axis, 1), 1), wait_all(first_axis)},
             {send(first_axis, 0), compute(), recv(first_axis, 0)}});
  const Trace trace =
      one_iteration(100, {{at(0, 0, 40), at(0, 0, 100), at(0, 100)}, {at(30, 40), at(40, 80), at(80, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{0, (40 - 30) + (100 - 80), 80 - 40, 30}));
}

TEST(Attribution, WaitAllLeavesOtherAxesOutstanding) {
  const Operation data = start(all_reduce(first_axis), 0), tensor = start(all_reduce(second_axis), 1);
  const Schedule schedule =
      one_role({{"data", 2}, {"tensor", 1}}, {data, tensor, wait_all(first_axis), wait(tensor)});

  const Matching matching = match(schedule);

  EXPECT_EQ(matching.programs[0].waited[2], std::vector<OperationIndex>{0});
  EXPECT_EQ(matching.programs[0].waited[3], std::vector<OperationIndex>{1});
}

TEST(Attribution, IndexesIntervalsByExecutionOrder) {
  // The gather marked `ahead` is executed before the compute it is written behind.
  Operation gather = start(all_reduce(first_axis), 0);
  gather.ahead = true;
  const Schedule schedule = one_role(two_data, {compute(), gather, wait(gather)});
  const Trace trace = one_iteration(
      100, {{at(0, 10, 100), at(10, 50), at(50, 100)}, {at(0, 10, 100), at(10, 50), at(50, 100)}});

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{50, 50, 0, 0}));
}

TEST(Attribution, ClipsWhatClocksOrderWrongly) {
  // Rank 1's clock runs 5 ahead: it seems to arrive after rank 0 has left.
  const Schedule schedule = one_role(two_data, {all_reduce(first_axis)});
  Trace trace = one_iteration(100, {{at(0, 50)}, {at(55, 60)}});
  trace.clock_bound_ns = 10;

  const auto of = breakdowns(schedule, trace);

  EXPECT_EQ(parts(of[0]), (Parts{50, 0, 50, 0}));
  EXPECT_EQ(parts(of[1]), (Parts{95, 5, 0, 0}));
}

TEST(Attribution, KeepsIterationsApart) {
  const Schedule schedule = one_role(two_data, {all_reduce(first_axis)});
  Trace trace{.executor = "sim", .iterations = 2};
  trace.ranks = {{0, {0, 100}, {100, 250}, {at(0, 100), at(100, 250)}},
                 {1, {0, 100}, {100, 250}, {at(40, 100), at(220, 250)}}};
  const Matching matching = match(schedule);
  Arrivals arrivals(matching, trace);

  const auto of = attribute(schedule, trace, arrivals).of;

  EXPECT_EQ(parts(of[0][0]), (Parts{0, 60, 40, 0}));
  EXPECT_EQ(parts(of[0][1]), (Parts{0, 30, 120, 0}));
}

TEST(AttributionDeathTest, RefusesATraceWithoutAllRanks) {
  const Schedule schedule = one_role(two_data, {all_reduce(first_axis)});
  const Matching matching = match(schedule);
  const Trace trace = one_iteration(100, {{at(0, 100)}});

  EXPECT_DEATH(Arrivals(matching, trace), "every rank");
}

TEST(AttributionDeathTest, RefusesGroupsWhoseMembersDisagree) {
  const Schedule schedule = roles(two_stages, 0, {{all_reduce(first_axis)}, {compute()}});

  EXPECT_DEATH(match(schedule), "members of a group differ in how many all-reduce");
}

TEST(AttributionDeathTest, RefusesAMessageWithoutItsOtherSide) {
  const Schedule schedule = roles(two_stages, 0, {{send(first_axis, 1)}, {compute()}});
  const Trace trace = one_iteration(100, {{at(0, 100)}, {at(0, 100)}});

  EXPECT_DEATH(breakdowns(schedule, trace), "every send has its receive");
}

}  // namespace
}  // namespace dlnb
