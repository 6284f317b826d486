// SPDX-License-Identifier: Apache-2.0
#include "executor/live/diagnosis.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/live/plans.hpp"

namespace dlnb {
namespace {

using namespace plans;
using testing::HasSubstr;

/// All ranks known and alive, in measured iteration 4, having finished operation `done`.
std::vector<RankState> states(std::int64_t ranks, int done) {
  std::vector<RankState> all(static_cast<std::size_t>(ranks));
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    all[std::size_t(rank)] = {.rank = rank,
                              .life = Life::running,
                              .known = true,
                              .stage = Stage::measuring,
                              .iteration = 4,
                              .place = ~done};
  return all;
}

void wait_in(RankState& state, int operation, double seconds = 1) {
  state.place = operation;
  state.waited = seconds;
  state.distressed = true;
}

std::vector<std::int64_t> ranks_of(const Diagnosis& diagnosis) {
  std::vector<std::int64_t> ranks;
  for (const LostRankState& lost : diagnosis.missing) ranks.push_back(lost.rank);
  return ranks;
}

/// compute, all-reduce over all
Schedule reduction(std::int64_t ranks) {
  return alike(ranks,
               {compute(1e-3), collective(OperationKind::all_reduce, 1, ranks, DataType::bfloat16, 10)});
}

TEST(Diagnosis, NamesTheMemberThatHasNotArrived) {
  auto all = states(4, 1);
  all[2].place = ~0;  // still computes
  for (const int rank : {0, 1, 3}) wait_in(all[std::size_t(rank)], 1);

  const Diagnosis diagnosis = diagnose(reduction(4), all);

  EXPECT_THAT(ranks_of(diagnosis), testing::ElementsAre(2));
  EXPECT_THAT(diagnosis.text, HasSubstr("all-reduce over data (operation 1) of ranks 0–3 of iteration 4"));
  EXPECT_THAT(diagnosis.text, HasSubstr("rank 2 is missing"));
  EXPECT_THAT(diagnosis.text, HasSubstr("in compute"));
  EXPECT_THAT(diagnosis.text, HasSubstr("ranks 0, 1, 3 have waited"));
}

TEST(Diagnosis, ARankThatIsAnIterationBehindHasNotArrived) {
  auto all = states(2, 1);
  all[1].iteration = 3;
  wait_in(all[0], 1);

  EXPECT_THAT(ranks_of(diagnose(reduction(2), all)), testing::ElementsAre(1));
}

TEST(Diagnosis, AStoppedMemberIsMissingWhereverItIs) {
  auto all = states(3, 1);
  for (RankState& state : all) wait_in(state, 1);
  all[1].life = Life::stopped;

  const Diagnosis diagnosis = diagnose(reduction(3), all);

  EXPECT_THAT(ranks_of(diagnosis), testing::ElementsAre(1));
  EXPECT_THAT(diagnosis.missing[0].state, HasSubstr("stopped"));
}

TEST(Diagnosis, OneThatEndedForWantOfAnotherIsNotMissing) {
  auto all = states(3, 1);
  for (RankState& state : all) wait_in(state, 1);
  all[1].distressed = false;
  all[0].life = all[1].life = Life::ended;

  EXPECT_THAT(ranks_of(diagnose(reduction(3), all)), testing::ElementsAre(1));
}

TEST(Diagnosis, FollowsWhoWaitsForWhomToTheCause) {
  // Stages 0 and 1, two replicas: rank 0 waits for the message of rank 1, which waits for the reduction with rank 3.
  Schedule schedule = two_stages(2, 10);
  const auto reduce = collective(OperationKind::all_reduce, 2, 2, DataType::bfloat16, 10);
  schedule.programs[0].operations = {message(OperationKind::recv, 1, 1, 10)};
  schedule.programs[1].operations = {reduce, message(OperationKind::send, 1, 0, 10)};
  auto all = states(4, 0);
  wait_in(all[0], 0, 3);
  wait_in(all[1], 0, 2);
  wait_in(all[2], 0, 3);
  all[3].place = Place::before_all;

  const Diagnosis diagnosis = diagnose(schedule, all);

  EXPECT_THAT(ranks_of(diagnosis), testing::ElementsAre(3));
  EXPECT_THAT(diagnosis.text, HasSubstr("ranks 1, 2 have waited")) << diagnosis.text;
}

TEST(Diagnosis, MatchesTheNthMessageWithTheNthReceive) {
  Schedule schedule = two_stages(1, 10);
  constexpr auto send = OperationKind::send, recv = OperationKind::recv;
  schedule.programs[0].operations = {message(recv, 1, 1, 10), compute(1e-3), message(recv, 1, 1, 10)};
  schedule.programs[1].operations = {message(send, 1, 0, 10), message(send, 1, 0, 10), compute(1e-3)};
  auto all = states(2, 0);
  wait_in(all[0], 2);
  all[1].place = ~0;  // has sent the first only

  EXPECT_THAT(ranks_of(diagnose(schedule, all)), testing::ElementsAre(1));

  all[1].place = 3;  // both, and has gone on to the agreement
  EXPECT_THAT(diagnose(schedule, all).text, HasSubstr("every rank has arrived"));
}

TEST(Diagnosis, AWaitIsForWhatWasStarted) {
  const auto reduce = collective(OperationKind::all_reduce, 1, 2, DataType::bfloat16, 10);
  const Schedule schedule = alike(2, {behind_handle(reduce, 0), compute(1e-3), wait(0)});
  auto all = states(2, 1);
  wait_in(all[0], 2);
  all[1].place = Place::before_all;

  const Diagnosis diagnosis = diagnose(schedule, all);

  EXPECT_THAT(ranks_of(diagnosis), testing::ElementsAre(1));
  EXPECT_THAT(diagnosis.text, HasSubstr("all-reduce over data (operation 0)"));
}

TEST(Diagnosis, OneThatHasStartedItAndDoesNotGoOnIsNamed) {
  const auto reduce = collective(OperationKind::all_reduce, 1, 2, DataType::bfloat16, 10);
  const Schedule schedule = alike(2, {behind_handle(reduce, 0), compute(1e-3), wait(0)});
  auto all = states(2, 1);
  wait_in(all[0], 2);

  const Diagnosis diagnosis = diagnose(schedule, all);

  EXPECT_THAT(ranks_of(diagnosis), testing::ElementsAre(1));
  EXPECT_THAT(diagnosis.text, HasSubstr("all-reduce over data (operation 0)"));
  EXPECT_THAT(diagnosis.text, HasSubstr("rank 0 has waited"));
}

TEST(Diagnosis, OneThatEndedIsNamedWithWhatItWouldHaveDoneNext) {
  auto all = states(4, 1);
  for (RankState& state : all) state.place = ~0;
  all[3].life = Life::ended;

  const Diagnosis diagnosis = diagnose(reduction(4), all, {3});

  EXPECT_THAT(ranks_of(diagnosis), testing::ElementsAre(3));
  EXPECT_THAT(diagnosis.text, HasSubstr("all-reduce over data (operation 1)"));
  EXPECT_THAT(diagnosis.text, HasSubstr("killed or crashed"));
}

TEST(Diagnosis, OfThoseThatEndedTogetherTheOthersWaitedForTheFirst) {
  auto all = states(4, 1);
  for (RankState& state : all) state.life = Life::ended, wait_in(state, 1);
  all[3].place = ~0;

  EXPECT_THAT(waited_for(reduction(4), all, {0, 1, 2, 3}), testing::ElementsAre(3));

  wait_in(all[3], 1);  // where it died in the same operation, nothing tells
  EXPECT_THAT(waited_for(reduction(4), all, {0, 1, 2, 3}), testing::IsEmpty());
}

TEST(Diagnosis, TwoThatWaitForEachOtherAreBothNamed) {
  Schedule schedule = two_stages(1, 10);
  schedule.programs[0].operations = {message(OperationKind::recv, 1, 1, 10),
                                     message(OperationKind::send, 1, 1, 10)};
  schedule.programs[1].operations = {message(OperationKind::recv, 1, 0, 10),
                                     message(OperationKind::send, 1, 0, 10)};
  auto all = states(2, 0);
  for (RankState& state : all) wait_in(state, 0);

  const Diagnosis diagnosis = diagnose(schedule, all);

  EXPECT_THAT(ranks_of(diagnosis), testing::ElementsAre(0, 1));
  EXPECT_THAT(diagnosis.text, HasSubstr("wait for each other"));
}

TEST(Diagnosis, RanksAreWrittenAsRanges) {
  EXPECT_EQ(ranks_text({5, 0, 1, 2}), "0–2, 5");
  EXPECT_EQ(ranks_text({3, 4}), "3, 4");
}

}  // namespace
}  // namespace dlnb
