// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/analysis/world.hpp"

namespace dlnb {
namespace {

using namespace world;

const Metric* find(const Metrics& metrics, std::string_view name) {
  const auto found = std::ranges::find(metrics.named, name, &Metric::name);
  return found == metrics.named.end() ? nullptr : &*found;
}

// An all-reduce is issued at 10, two phases of compute fill 20 to 50 and 60 to 70, and the rank waits from 70.
Schedule one_all_reduce() {
  return one_role({{"data", 2}},
                  {start(all_reduce(1), 0), compute(), compute(), wait(start(all_reduce(1), 0))});
}
std::vector<Interval> rank_complete_at(std::int64_t complete, std::int64_t seen_by = 100) {
  return {at(10, 20, complete), at(20, 50), at(60, 70), at(70, seen_by)};
}

// Rank 0: under way 10 to 100 = 90, of which 30 + 10 computing. Rank 1: 10 to 45 = 35, of which 25.
TEST(Overlap, IsComputeWithinTheTimeAnOperationWasUnderWay) {
  const Trace trace = one_iteration(100, {rank_complete_at(100), rank_complete_at(45)});

  const Metrics metrics = analyse(trace, one_all_reduce());

  const Metric* overlap = find(metrics, "overlap");
  ASSERT_TRUE(overlap);
  EXPECT_EQ(overlap->count, 2);
  EXPECT_DOUBLE_EQ(overlap->low, 40.0 / 90);
  EXPECT_DOUBLE_EQ(overlap->high, 25.0 / 35);
  EXPECT_DOUBLE_EQ(overlap->value, (40.0 / 90 + 25.0 / 35) / 2);
}

// Two of them: 10 to 45 with 25 of compute, and 20 to 65 with 30 + 5.
TEST(Overlap, OfSeveralIsTheSumOverTheSum) {
  const Operation first = start(all_reduce(1), 0), second = start(all_reduce(1), 1);
  const Schedule schedule =
      one_role({{"data", 1}}, {first, compute(), second, compute(), wait(first), wait(second)});
  const Trace trace =
      one_iteration(100, {{at(10, 20, 45), at(20, 50), at(50, 60, 65), at(60, 70), at(70, 70), at(70, 70)}});

  const Metrics metrics = analyse(trace, schedule);

  const Metric* overlap = find(metrics, "overlap");
  ASSERT_TRUE(overlap);
  EXPECT_DOUBLE_EQ(overlap->value, (25.0 + 5.0) / (35 + 15));
}

TEST(Overlap, ComputeThatWasLateForWantOfACoreHidesNothing) {
  std::vector<Interval> late = rank_complete_at(100);
  late[1] = at(20, 50, 30);  // done at 30, went on at 50

  const Metrics metrics = analyse(one_iteration(100, {late, late}), one_all_reduce());

  const Metric* overlap = find(metrics, "overlap");
  ASSERT_TRUE(overlap);
  EXPECT_DOUBLE_EQ(overlap->value, (10.0 + 10.0) / 90);
}

TEST(Overlap, DoesNotApplyWithoutNonBlockingOperations) {
  const Schedule schedule = one_role({{"data", 2}}, {compute(), all_reduce(1)});

  const Metrics metrics =
      analyse(one_iteration(100, {{at(0, 50), at(50, 100)}, {at(0, 50), at(50, 100)}}), schedule);

  EXPECT_FALSE(find(metrics, "overlap"));
}

// Two ranks, 4 iterations, 20 J and 60 J in 2 s: 5 J and 15 J per iteration, 10 W and 30 W.
TEST(Energy, IsPerRankAndIterationAndNamesItsMethod) {
  const Schedule schedule = one_role({{"data", 2}}, {compute()});
  Trace trace{
      .executor = "threads", .iterations = 4, .energy = {{0, 20, 2}, {1, 60, 2}}, .energy_method = "a meter"};
  for (std::int64_t rank = 0; rank < 2; ++rank)
    trace.ranks.push_back({.rank = rank,
                           .iteration_begin = {0, 10, 20, 30},
                           .iteration_end = {10, 20, 30, 40},
                           .intervals = {at(0, 10), at(10, 20), at(20, 30), at(30, 40)}});

  const Metrics metrics = analyse(trace, schedule);

  const Metric *energy = find(metrics, "energy_per_iteration"), *power = find(metrics, "power");
  ASSERT_TRUE(energy && power);
  EXPECT_DOUBLE_EQ(energy->value, (5.0 + 15.0) / 2);
  EXPECT_DOUBLE_EQ(energy->high, 15);
  EXPECT_DOUBLE_EQ(power->value, (10.0 + 30.0) / 2);
  EXPECT_THAT(energy->definition, testing::EndsWith(" Counted by: a meter."));
}

TEST(Energy, IsAbsentWhereNothingCounted) {
  const Metrics metrics = analyse(one_iteration(10, {{at(0, 10)}}), one_role({{"data", 1}}, {compute()}));

  EXPECT_FALSE(find(metrics, "energy_per_iteration"));
  EXPECT_FALSE(find(metrics, "power"));
}

}  // namespace
}  // namespace dlnb
