// SPDX-License-Identifier: Apache-2.0
#include "analysis/operations.hpp"

#include <gtest/gtest.h>

#include "unit/analysis/world.hpp"

namespace dlnb {
namespace {

using namespace world;

std::vector<OperationRow> rows_of(const Schedule& schedule, const Trace& trace) {
  const Matching matching = match(schedule);
  Arrivals arrivals(matching, trace);
  OperationTallies tallies(matching, trace.iterations);
  attribute(schedule, trace, arrivals, tallies);
  return tallies.rows();
}

TEST(BusFactor, FollowsNcclTests) {
  using enum OperationKind;
  for (const std::int64_t n : {1, 2, 3, 8}) {
    const double others = double(n - 1) / double(n);
    EXPECT_DOUBLE_EQ(bus_factor(all_reduce, n), 2 * others);
    EXPECT_DOUBLE_EQ(bus_factor(all_gather, n), others);
    EXPECT_DOUBLE_EQ(bus_factor(reduce_scatter, n), others);
    EXPECT_DOUBLE_EQ(bus_factor(all_to_all, n), others);
    EXPECT_EQ(bus_factor(broadcast, n), 1);
    EXPECT_EQ(bus_factor(send, n), 1);
    EXPECT_EQ(bus_factor(recv, n), 1);
  }
  EXPECT_DOUBLE_EQ(bus_factor(all_reduce, 2), 1);
  EXPECT_DOUBLE_EQ(bus_factor(all_reduce, 8), 1.75);
}

TEST(AlgorithmBytes, AreTheLargerSide) {
  const Operation gather{.kind = OperationKind::all_gather, .elements_sent = 100, .elements_received = 800};
  const Operation scatter{
      .kind = OperationKind::reduce_scatter, .elements_sent = 800, .elements_received = 100};

  EXPECT_EQ(algorithm_bytes(gather).value, 8 * 100 * 2);
  EXPECT_EQ(algorithm_bytes(scatter).value, 8 * 100 * 2);
}

TEST(OperationRows, CountSizeTimeAndBandwidth) {
  // Two all-reduces of 1000 bfloat16 between 2 ranks; rank 1 comes 20 later to the first, in step to the
  // second.
  const Schedule schedule = one_role({{"data", 2}}, {all_reduce(1), all_reduce(1)});
  const Trace trace = one_iteration(200, {{at(0, 60), at(100, 140)}, {at(20, 60), at(100, 140)}});

  const auto rows = rows_of(schedule, trace);

  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].axis, "data");
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[0].group_size, 2);
  EXPECT_EQ(rows[0].bytes_each, 2 * 1000);
  EXPECT_EQ(rows[0].time.count, 2 * 2);
  EXPECT_DOUBLE_EQ(rows[0].time.min, 40e-9);
  EXPECT_DOUBLE_EQ(rows[0].time.max, 60e-9);
  EXPECT_DOUBLE_EQ(rows[0].exposed, ((60 + 40) + (40 + 40)) / 2 * 1e-9);
  // Every sample after the last arrival takes 40 ns.
  EXPECT_DOUBLE_EQ(rows[0].algorithm_bandwidth, 2000 / 40e-9);
  EXPECT_DOUBLE_EQ(rows[0].bus_bandwidth, 2000 / 40e-9 * 2 * (2 - 1) / 2);
}

TEST(OperationRows, GiveExposedTimeOfAWaitToWhatItWaitedFor) {
  const Operation reduce = start(all_reduce(1), 0);
  const Schedule schedule = one_role({{"data", 2}}, {reduce, compute(), wait(reduce)});
  const Trace trace =
      one_iteration(100, {{at(0, 0, 90), at(0, 60), at(60, 90)}, {at(0, 0, 90), at(0, 80), at(80, 90)}});

  const auto rows = rows_of(schedule, trace);

  ASSERT_EQ(rows.size(), 1u);
  EXPECT_DOUBLE_EQ(rows[0].time.median, 90e-9);
  EXPECT_DOUBLE_EQ(rows[0].exposed, (30 + 10) / 2 * 1e-9);
}

TEST(OperationRows, TellApartRolesSizesAndPhases) {
  Operation forward = all_reduce(2);
  forward.phase = Phase::forward;
  const Schedule schedule = roles({{"pipeline", 2}, {"data", 2}}, 0,
                                  {{all_reduce(2), all_reduce(2, 500), forward}, {all_reduce(2)}});
  const Trace trace = one_iteration(
      30,
      {{at(0, 10), at(10, 20), at(20, 30)}, {at(0, 10)}, {at(0, 10), at(10, 20), at(20, 30)}, {at(0, 10)}});

  const auto rows = rows_of(schedule, trace);

  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].phase, Phase::forward);
  EXPECT_EQ(rows[1].bytes_each, 500 * 2);
  EXPECT_EQ(rows[2].bytes_each, 1000 * 2);
  EXPECT_EQ(rows[3].role, 1);
}

TEST(OperationRows, CountAShardAsAGathersMessageAndTheWholeAsItsBandwidth) {
  Operation gather{
      .kind = OperationKind::all_gather, .axes = 1, .elements_sent = 100, .elements_received = 400};
  const Schedule schedule = one_role({{"fsdp", 4}}, {gather});
  const Trace trace = one_iteration(100, {{at(0, 100)}, {at(0, 100)}, {at(0, 100)}, {at(0, 100)}});

  const auto rows = rows_of(schedule, trace);

  EXPECT_EQ(rows[0].bytes_each, 100 * 2);
  EXPECT_DOUBLE_EQ(rows[0].algorithm_bandwidth, 4 * 100 * 2 / 100e-9);
  EXPECT_DOUBLE_EQ(rows[0].bus_bandwidth, 4 * 100 * 2 / 100e-9 * 3 / 4);
}

TEST(OperationRows, HaveNoBandwidthWhereNothingMovesOrNoTimePasses) {
  const Schedule empty = one_role({{"data", 2}}, {all_reduce(1, 0)});
  const Schedule instant = one_role({{"data", 2}}, {all_reduce(1)});

  const auto of_empty = rows_of(empty, one_iteration(10, {{at(0, 10)}, {at(0, 10)}}));
  const auto of_instant = rows_of(instant, one_iteration(10, {{at(5, 5)}, {at(5, 5)}}));

  EXPECT_EQ(of_empty[0].algorithm_bandwidth, 0);
  EXPECT_EQ(of_empty[0].bus_bandwidth, 0);
  EXPECT_EQ(of_instant[0].algorithm_bandwidth, 0);
}

TEST(OperationRows, TimeAReceiveFromWhenItsSenderPosted) {
  const Schedule schedule = roles({{"pipeline", 2}}, 0, {{send(1, 1)}, {recv(1, 0)}});
  const Trace trace = one_iteration(50, {{at(30, 50)}, {at(0, 50)}});

  const auto rows = rows_of(schedule, trace);

  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].kind, OperationKind::recv);
  EXPECT_EQ(rows[1].group_size, 2);
  EXPECT_DOUBLE_EQ(rows[1].time.median, 50e-9);
  EXPECT_DOUBLE_EQ(rows[1].bus_bandwidth, 2000 / 20e-9);
}

}  // namespace
}  // namespace dlnb
