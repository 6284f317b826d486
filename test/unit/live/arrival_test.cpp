// SPDX-License-Identifier: Apache-2.0
#include "executor/live/arrival.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<Arriving> four(Arrival stage) {
  std::vector<Arriving> ranks;
  for (std::int64_t rank = 0; rank < 4; ++rank)
    ranks.push_back({.rank = rank, .stage = stage, .process = 1, .life = Life::running});
  return ranks;
}

TEST(Arrival, WhoHasNotBegunIsMissing) {
  std::vector<Arriving> ranks = four(Arrival::joining);
  ranks[1] = {.rank = 1};

  const std::string text = missing_text(ranks);

  EXPECT_THAT(text, HasSubstr("rank 1 is missing (it has not begun)"));
  EXPECT_THAT(text, Not(HasSubstr("rank 2")));
}

TEST(Arrival, WhoIsBehindTheOthersIsMissing) {
  std::vector<Arriving> ranks = four(Arrival::joining);
  ranks[3].stage = Arrival::begun;

  EXPECT_THAT(missing_text(ranks), HasSubstr("rank 3 is missing (it has begun"));
}

TEST(Arrival, AProcessThatIsStoppedExplainsThoseThatWait) {
  std::vector<Arriving> ranks = four(Arrival::joining);
  ranks[2].life = Life::stopped;

  EXPECT_EQ(missing_text(ranks), "rank 2 is missing (its process is stopped)");
}

TEST(Arrival, ThatAllWaitOrNobodyIsThereIsSaid) {
  EXPECT_THAT(missing_text(four(Arrival::joining)), HasSubstr("hangs in the library"));
  EXPECT_THAT(missing_text(four(Arrival::absent)), HasSubstr("no rank has begun"));
}

TEST(Arrival, OfThoseThatEndTogetherTheLeastFarWasTheFirst) {
  std::vector<Arriving> ranks = four(Arrival::joining);
  ranks[2].stage = Arrival::begun;

  EXPECT_THAT(ended_text(ranks, {0, 1, 2, 3}), HasSubstr("rank 2 is missing"));
  EXPECT_THAT(ended_text(ranks, {0, 1, 3}), HasSubstr("ranks 0, 1, 3 are missing"));
}

TEST(Arrival, TheLimitIsAMinuteAtLeastOrWhatIsAsked) {
  unsetenv("DLNETBENCH_START_LIMIT");
  EXPECT_EQ(start_limit(Seconds{1}).value, 60);
  EXPECT_EQ(start_limit(Seconds{90}).value, 90);
  EXPECT_EQ(start_limit(Seconds{0}).value, 0);

  setenv("DLNETBENCH_START_LIMIT", "2.5", 1);
  EXPECT_EQ(start_limit(Seconds{90}).value, 2.5);
  setenv("DLNETBENCH_START_LIMIT", "soon", 1);
  EXPECT_THROW(start_limit(Seconds{90}), UserError);
  unsetenv("DLNETBENCH_START_LIMIT");
}

}  // namespace
}  // namespace dlnb
