// SPDX-License-Identifier: Apache-2.0
#include "executor/live/merge.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include <dlnb/error.hpp>

#include "executor/live/backend.hpp"
#include "executor/live/surroundings.hpp"

namespace dlnb {
namespace {

RankTrace some_record(std::int64_t rank, std::int64_t start) {
  RankTrace trace;
  trace.rank = rank;
  trace.iteration_begin = {start, start + 100};
  trace.iteration_end = {start + 90, start + 200};
  trace.intervals = {{start, start + 90, start + 95}, {start + 100, start + 200, start + 200}};
  trace.compute_error = 0.005;
  trace.compute_error_ns = 42;
  return trace;
}

TEST(Merge, ARecordSurvivesTheWay) {
  const RankTrace before = some_record(3, 1000);

  const RankTrace after = unpack(pack(before));

  EXPECT_EQ(after.rank, 3);
  EXPECT_EQ(after.iteration_begin, before.iteration_begin);
  EXPECT_EQ(after.iteration_end, before.iteration_end);
  EXPECT_EQ(after.compute_error, before.compute_error);
  EXPECT_EQ(after.compute_error_ns, 42);
  ASSERT_EQ(after.intervals.size(), 2u);
  EXPECT_EQ(after.intervals[0].completed, 1095);
}

TEST(Merge, TheEarliestIterationBeginsAtZero) {
  std::vector<RankTrace> ranks{some_record(0, 1000), some_record(1, 970)};

  shift_to_common_start(ranks);

  EXPECT_EQ(ranks[1].iteration_begin[0], 0);
  EXPECT_EQ(ranks[0].iteration_begin[0], 30);
  EXPECT_EQ(ranks[0].intervals[0].completed, 125);
}

TEST(Merge, DriftBetweenTwoEstimatesIsLinear) {
  // 100 ns behind at its time 0, 300 ns behind at its time 1000.
  const Offset estimates[] = {{0, 100, 1}, {1000, 300, 1}};

  EXPECT_EQ(on_first_clock(0, estimates), 100);
  EXPECT_EQ(on_first_clock(500, estimates), 500 + 200);
  EXPECT_EQ(on_first_clock(1000, estimates), 1000 + 300);
}

TEST(Merge, BetweenMoreEstimatesThoseOnBothSidesCountAndOutsideTheNearest) {
  const Offset estimates[] = {{0, 100, 1}, {1000, 300, 1}, {2000, 300, 1}};

  EXPECT_EQ(on_first_clock(500, estimates), 500 + 200);
  EXPECT_EQ(on_first_clock(1500, estimates), 1500 + 300);
  EXPECT_EQ(on_first_clock(2500, estimates), 2500 + 300);
  EXPECT_EQ(on_first_clock(-500, estimates), -500 + 0);
  EXPECT_EQ(on_first_clock(700, std::span(estimates, 1)), 700 + 100);
  EXPECT_EQ(on_first_clock(700, {}), 700);
}

TEST(Merge, TheBoundIsOfTheTwoWorstHosts) {
  // Ranks 0 and 1 on one host, 2 and 3 on another, 4 alone.
  const std::int64_t bounds[] = {0, 0, 30, 30, 20};
  const int leaders[] = {0, 0, 2, 2, 4};

  EXPECT_EQ(bound_of_pairs(bounds, leaders), 50);
}

TEST(Merge, BadComputeMakesARunInvalid) {
  Trace good, tiny, bad;
  good.ranks = {some_record(0, 0), some_record(1, 0)};
  bad.ranks = tiny.ranks = good.ranks;
  bad.ranks[1].compute_error = tiny.ranks[1].compute_error = 0.02;
  bad.ranks[1].compute_error_ns = 20'000;  // of 1 ms
  tiny.ranks[1].compute_error_ns = 400;    // of 20 us

  Trace crowded = bad, on_device = bad;
  judge_compute(good, false, false);
  judge_compute(tiny, false, false);
  judge_compute(bad, false, false);
  judge_compute(crowded, true, false);
  judge_compute(on_device, false, true);

  EXPECT_TRUE(good.valid);
  EXPECT_TRUE(tiny.valid);
  EXPECT_FALSE(bad.valid);
  ASSERT_EQ(bad.notes.size(), 1u);
  EXPECT_TRUE(bad.notes[0].starts_with("INVALID")) << bad.notes[0];
  EXPECT_TRUE(crowded.valid);
  ASSERT_EQ(crowded.notes.size(), 1u);
  EXPECT_TRUE(crowded.notes[0].find("it had no core") != std::string::npos) << crowded.notes[0];
  EXPECT_TRUE(on_device.valid);
  ASSERT_EQ(on_device.notes.size(), 1u);
  EXPECT_TRUE(on_device.notes[0].find("of rank 1 were off by 2.00 %") != std::string::npos)
      << on_device.notes[0];
}

/// The real clock, seen wrongly.
class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(std::int64_t behind) : behind_(behind) {}
  std::int64_t now() override { return monotonic_clock().now() - behind_; }
  void sleep(std::int64_t nanoseconds) override { monotonic_clock().sleep(nanoseconds); }
  void yield() override { monotonic_clock().yield(); }

 private:
  const std::int64_t behind_;
};

TEST(Clocks, TheOffsetIsFoundWithinItsBound) {
  entry_called(backends::all(), "threads", "test").open({.ranks = 4}, [](Transport& transport) {
    // Ranks 0 and 1, 2 and 3 share a host and so a clock.
    const int leaders[] = {0, 0, 2, 2};
    const std::int64_t behind = leaders[transport.rank()] * 1'000'000'000;
    SkewedClock clock(behind);
    const Control control(transport);

    const Offset offset = estimate_offset(control, clock, leaders);

    EXPECT_LE(std::abs(offset.ahead - behind), offset.bound) << "rank " << transport.rank();
    EXPECT_LT(offset.bound, 500'000'000) << "rank " << transport.rank();
    const auto all = control.gather_values(offset);
    if (control.first()) {
      EXPECT_EQ(all[2].at, all[3].at);
      EXPECT_EQ(all[2].ahead, all[3].ahead);
      EXPECT_EQ(all[0].bound, 0);
      EXPECT_EQ(all[1].bound, 0);
    }
  });
}

TEST(Surroundings, KnowTheLauncherByItsVariables) {
  const auto none = surroundings([](const char*) -> const char* { return nullptr; });
  const auto open = surroundings([](const char* name) -> const char* {
    return std::string_view(name) == "OMPI_COMM_WORLD_RANK" ? "3"
           : std::string_view(name) == "PMIX_RANK"          ? "3"
                                                            : nullptr;
  });
  const auto hydra = surroundings(
      [](const char* name) -> const char* { return std::string_view(name) == "PMI_RANK" ? "1" : nullptr; });

  EXPECT_FALSE(none.inside);
  EXPECT_TRUE(open.inside);
  EXPECT_EQ(open.library, "openmpi");
  EXPECT_EQ(open.rank, 3);
  EXPECT_EQ(hydra.library, "mpich");
  EXPECT_EQ(hydra.rank, 1);
  EXPECT_EQ(hydra.size, 0);
}

TEST(Surroundings, OurOwnLauncherIsNobodyElses) {
  const auto own = surroundings([](const char* name) -> const char* {
    return std::string_view(name) == own_rank_variable   ? "2"
           : std::string_view(name) == own_size_variable ? "4"
           : std::string_view(name) == "PMI_RANK"        ? "0"
                                                         : nullptr;
  });

  EXPECT_TRUE(own.inside);
  EXPECT_EQ(own.library, "");
  EXPECT_EQ(own.rank, 2);
  EXPECT_EQ(own.size, 4);
}

}  // namespace
}  // namespace dlnb
