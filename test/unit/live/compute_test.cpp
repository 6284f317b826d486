// SPDX-License-Identifier: Apache-2.0
#include "executor/live/compute.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace dlnb {
namespace {

/// Time passes only by sleeping, and by 10 ns per look; sleeps end late.
class LateClock final : public Clock {
 public:
  explicit LateClock(std::int64_t late) : late_(late) {}
  std::int64_t now() override { return time_ += 10; }
  void sleep(std::int64_t nanoseconds) override {
    time_ += nanoseconds + late_;
    sleeps.push_back(nanoseconds);
  }
  void pass(std::int64_t nanoseconds) { time_ += nanoseconds; }

  std::vector<std::int64_t> sleeps;

 private:
  const std::int64_t late_;
  std::int64_t time_ = 0;
};

class CountedProgress final : public Progress {
 public:
  CountedProgress(LateClock& clock, std::int64_t takes) : clock_(clock), takes_(takes) {}
  bool wanted() const override { return true; }
  void poll() override { ++polls, clock_.pass(takes_); }
  int polls = 0;

 private:
  LateClock& clock_;
  const std::int64_t takes_;
};

TEST(ComputeEmulator, SpinsTheLastPartOfAPhase) {
  LateClock clock(80'000);  // less than the margin
  ComputeEmulator compute(clock, true, nullptr);
  const std::int64_t begin = clock.now();

  const std::int64_t end = compute.run(begin, 1'000'000);

  EXPECT_NEAR(double(end - begin), 1e6, 30);  // two looks late at most
  ASSERT_EQ(clock.sleeps.size(), 1u);
  EXPECT_NEAR(double(clock.sleeps[0]), double(1'000'000 - ComputeEmulator::spin_margin), 20);
}

TEST(ComputeEmulator, DoesNotSleepInAPhaseShorterThanTheMargin) {
  LateClock clock(80'000);
  ComputeEmulator compute(clock, true, nullptr);
  const std::int64_t begin = clock.now();

  compute.run(begin, ComputeEmulator::spin_margin / 2);

  EXPECT_TRUE(clock.sleeps.empty());
}

TEST(ComputeEmulator, CarriesItsErrorOverSoThatPhasesDoNotDrift) {
  constexpr std::int64_t late = 70'000, asked = 500'000;
  constexpr int phases = 100;
  LateClock clock(late);
  ComputeEmulator compute(clock, false, nullptr);  // sleeps only: every phase ends late
  const std::int64_t begin = clock.now();

  std::int64_t now = begin;
  for (int i = 0; i < phases; ++i) now = compute.run(now, asked);

  EXPECT_LE(now - begin - phases * asked, late + 30);  // one phase's error, not a hundred
  EXPECT_NEAR(double(compute.carried()), double(-late), 30);
}

TEST(ComputeEmulator, ReportsTheErrorOfItsPhases) {
  LateClock clock(50'000);
  ComputeEmulator compute(clock, false, nullptr);

  compute.run(clock.now(), 1'000'000);  // 50 µs late

  EXPECT_EQ(compute.accuracy().phases, 1);
  EXPECT_NEAR(compute.accuracy().relative, 0.05, 1e-4);
  EXPECT_NEAR(double(compute.accuracy().nanoseconds), 50e3, 50);
  compute.forget();
  EXPECT_EQ(compute.accuracy().phases, 0);
}

TEST(ComputeEmulator, TakesNoMoreThanHalfOffAPhase) {
  LateClock clock(0);
  ComputeEmulator compute(clock, true, nullptr);
  const std::int64_t begin = clock.now();
  clock.pass(5'000'000);          // as if the rank had been away for 5 ms
  compute.run(begin, 1'000'000);  // 4 ms too long
  const std::int64_t next = clock.now();

  const std::int64_t end = compute.run(next, 1'000'000);

  EXPECT_NEAR(double(end - next), 0.5e6, 50);
}

TEST(ComputeEmulator, NothingAskedTakesNothing) {
  LateClock clock(80'000);
  ComputeEmulator compute(clock, true, nullptr);

  EXPECT_EQ(compute.run(1234, 0), 1234);
  EXPECT_EQ(compute.accuracy().phases, 0);
}

TEST(ComputeEmulator, PollsAboutEveryInterval) {
  LateClock clock(0);
  CountedProgress progress(clock, 1'000);
  ComputeEmulator compute(clock, true, &progress);
  constexpr std::int64_t asked = 100 * ComputeEmulator::poll_interval;

  compute.run(clock.now(), asked);

  EXPECT_GE(progress.polls, 90);
  EXPECT_LE(progress.polls, 101);
}

TEST(ComputeEmulator, BeginsNoLongPollShortlyBeforeTheDeadline) {
  LateClock clock(0);
  CountedProgress progress(clock, 3'000'000);
  ComputeEmulator compute(clock, true, &progress);
  const std::int64_t begin = clock.now();

  const std::int64_t end = compute.run(begin, 100'000'000);

  EXPECT_NEAR(double(end - begin), 100e6, 50);
}

}  // namespace
}  // namespace dlnb
