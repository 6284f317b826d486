// SPDX-License-Identifier: Apache-2.0
#include "analysis/timeline.hpp"

#include <gtest/gtest.h>

#include <set>

#include "unit/analysis/world.hpp"

namespace dlnb {
namespace {

using namespace world;

TEST(Timeline, ShowsPiecesFromTheEarliestBegin) {
  Operation layer = compute();
  layer.layer = 3, layer.microbatch = 1;
  const Schedule schedule = one_role({{"data", 2}}, {layer, all_reduce(1)});
  Trace trace = one_iteration(100, {{at(10, 20), at(20, 100)}, {at(15, 60), at(60, 100)}});
  trace.ranks[0].iteration_begin = {10};
  trace.ranks[1].iteration_begin = {15};

  const Metrics metrics = analyse(trace, schedule);

  ASSERT_EQ(metrics.timeline.size(), 2u);
  const auto& events = metrics.timeline[0].events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].begin, 0);
  EXPECT_EQ(events[0].end, 20 - 10);
  EXPECT_EQ(events[0].layer, 3);
  EXPECT_EQ(events[0].microbatch, 1);
  EXPECT_EQ(events[0].cause, "compute");
  EXPECT_EQ(events[1].cause, "straggler_wait");
  EXPECT_EQ(events[1].end, 60 - 10);
  EXPECT_EQ(events[1].axis, "data");
  EXPECT_EQ(events[2].cause, "transfer");
  EXPECT_EQ(events[2].kind, OperationKind::all_reduce);
  EXPECT_EQ(metrics.timeline[1].events[0].begin, 15 - 10);
  EXPECT_FALSE(metrics.timeline_truncated);
}

TEST(Timeline, IsOfTheMedianIteration) {
  const Schedule schedule = one_role({{"data", 1}}, {compute()});
  Trace trace{.executor = "sim", .iterations = 3};
  trace.ranks = {{0, {0, 50, 60}, {50, 60, 90}, {at(0, 50), at(50, 60), at(60, 90)}}};  // 50, 10 and 30 long

  const Metrics metrics = analyse(trace, schedule);

  EXPECT_EQ(metrics.timeline_iteration, 2);
  EXPECT_EQ(metrics.timeline[0].events[0].end, 30);
}

TEST(Timeline, SamplesRanksOfEveryRole) {
  // 100 ranks per stage: the first 16 ranks are all of stage 0.
  const Schedule schedule =
      roles({{"data", 100}, {"pipeline", 3}}, 1, {{compute()}, {compute()}, {compute()}});
  const Trace trace = one_iteration(10, std::vector<std::vector<Interval>>(300, {at(0, 10)}));

  const Metrics metrics = analyse(trace, schedule);

  ASSERT_EQ(metrics.timeline.size(), timeline_ranks);
  std::set<std::int64_t> roles_seen;
  for (const TimelineRank& rank : metrics.timeline) roles_seen.insert(rank.role);
  EXPECT_EQ(roles_seen, (std::set<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(metrics.timeline[13].rank, 13);
  EXPECT_EQ(metrics.timeline[14].rank, 100);
  EXPECT_EQ(metrics.timeline[15].rank, 200);
}

TEST(Timeline, MergesNeighboursOfOneCauseOverTheLimit) {
  std::vector<TimelineEvent> events;
  for (std::int64_t i = 0; i < 6; ++i)
    events.push_back({.begin = 10 * i,
                      .end = 10 * i + 10,
                      .layer = std::int32_t(i),
                      .cause = i < 4 ? "compute" : "transfer"});

  const bool changed = shorten(events, 5);

  EXPECT_TRUE(changed);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].end, 40);
  EXPECT_EQ(events[0].layer, nothing);
  EXPECT_EQ(events[1].begin, 40);
}

TEST(Timeline, LeavesOutTheShortestWhereMergingIsNotEnough) {
  std::vector<TimelineEvent> events{{.begin = 0, .end = 10, .cause = "compute"},
                                    {.begin = 10, .end = 11, .cause = "transfer"},
                                    {.begin = 11, .end = 31, .cause = "compute"}};

  shorten(events, 2);

  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].end, 10);
  EXPECT_EQ(events[1].begin, 11);
}

TEST(Timeline, LeavesShortOnesAsTheyAre) {
  std::vector<TimelineEvent> events(5, {.begin = 0, .end = 1, .cause = "compute"});

  EXPECT_FALSE(shorten(events, 5));
  EXPECT_EQ(events.size(), 5u);
}

}  // namespace
}  // namespace dlnb
