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
  void yield() override { time_ += 10; }
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

TEST(ExactCompute, SpinsTheLastPartOfAPhase) {
  LateClock clock(80'000);  // less than the margin
  ExactCompute compute(clock, nullptr);
  const std::int64_t begin = clock.now();

  const std::int64_t end = compute.run(begin, 1'000'000).end;

  EXPECT_NEAR(double(end - begin), 1e6, 30);  // two looks late at most
  ASSERT_EQ(clock.sleeps.size(), 1u);
  EXPECT_NEAR(double(clock.sleeps[0]), double(1'000'000 - ExactCompute::spin_margin), 20);
}

TEST(ExactCompute, DoesNotSleepInAPhaseShorterThanTheMargin) {
  LateClock clock(80'000);
  ExactCompute compute(clock, nullptr);
  const std::int64_t begin = clock.now();

  compute.run(begin, ExactCompute::spin_margin / 2);

  EXPECT_TRUE(clock.sleeps.empty());
}

TEST(ExactCompute, CarriesItsErrorOverSoThatPhasesDoNotDrift) {
  constexpr std::int64_t late = 170'000,
                         asked = 500'000;  // later than the margin: every phase ends 50 us late
  constexpr int phases = 100;
  LateClock clock(late);
  ExactCompute compute(clock, nullptr);
  const std::int64_t begin = clock.now();

  std::int64_t now = begin;
  for (int i = 0; i < phases; ++i) now = compute.run(now, asked).end;

  EXPECT_LE(now - begin - phases * asked, 50'000 + 60);  // one phase's error, not a hundred
  EXPECT_NEAR(double(compute.carried()), -50e3, 60);
}

TEST(ExactCompute, ReportsTheErrorOfItsPhases) {
  LateClock clock(ExactCompute::spin_margin + 50'000);
  ExactCompute compute(clock, nullptr);

  compute.run(clock.now(), 1'000'000);  // 50 µs late

  EXPECT_EQ(compute.accuracy().phases, 1);
  EXPECT_NEAR(compute.accuracy().relative, 0.05, 1e-4);
  EXPECT_NEAR(double(compute.accuracy().nanoseconds), 50e3, 50);
  compute.forget();
  EXPECT_EQ(compute.accuracy().phases, 0);
}

TEST(SharedCompute, PaysShortPhasesInLumps) {
  LateClock clock(60'000);  // less than the margin: the rest is yielded away
  SharedCompute compute(clock, nullptr);
  constexpr std::int64_t asked = 20'000;
  const std::int64_t begin = clock.now();

  std::int64_t now = begin;
  for (int i = 0; i < 1000; ++i) now = compute.run(now, asked).end;

  EXPECT_EQ(clock.sleeps.size(), std::size_t(1000 * asked / SharedCompute::lump));
  EXPECT_NEAR(double(now - begin + compute.owed()), 1000.0 * asked, 1000.0);
}

TEST(SharedCompute, IsComputedAtTheDeadlineHoweverLateTheRankGoesOn) {
  LateClock clock(5'000'000);  // the core is somebody else's for 5 ms
  SharedCompute compute(clock, nullptr);
  const std::int64_t begin = clock.now();

  const Outcome phase = compute.run(begin, 1'000'000);

  EXPECT_EQ(phase.computed, begin + 1'000'000);
  EXPECT_NEAR(double(phase.end - phase.computed), 5e6 - SharedCompute::yield_margin, 100);
}

TEST(SharedCompute, PollsNoMoreOftenThanTheInterval) {
  LateClock clock(0);
  CountedProgress progress(clock, 1'000);
  SharedCompute compute(clock, &progress);

  std::int64_t now = clock.now();
  for (int i = 0; i < 40; ++i) now = compute.run(now, SharedCompute::lump).end;

  EXPECT_GE(progress.polls, 40 * SharedCompute::lump / Compute::poll_interval / 2);
  EXPECT_LE(progress.polls, 40 * SharedCompute::lump / Compute::poll_interval + 1);
}

TEST(ExactCompute, TakesNoMoreThanHalfOffAPhase) {
  LateClock clock(0);
  ExactCompute compute(clock, nullptr);
  const std::int64_t begin = clock.now();
  clock.pass(5'000'000);          // as if the rank had been away for 5 ms
  compute.run(begin, 1'000'000);  // 4 ms too long
  const std::int64_t next = clock.now();

  const std::int64_t end = compute.run(next, 1'000'000).end;

  EXPECT_NEAR(double(end - next), 0.5e6, 50);
}

TEST(ExactCompute, NothingAskedTakesNothing) {
  LateClock clock(80'000);
  ExactCompute compute(clock, nullptr);

  EXPECT_EQ(compute.run(1234, 0).end, 1234);
  EXPECT_EQ(compute.accuracy().phases, 0);
}

TEST(ExactCompute, PollsAboutEveryInterval) {
  LateClock clock(0);
  CountedProgress progress(clock, 1'000);
  ExactCompute compute(clock, &progress);
  constexpr std::int64_t asked = 100 * ExactCompute::poll_interval;

  compute.run(clock.now(), asked);

  EXPECT_GE(progress.polls, 90);
  EXPECT_LE(progress.polls, 101);
}

TEST(ExactCompute, BeginsNoLongPollShortlyBeforeTheDeadline) {
  LateClock clock(0);
  CountedProgress progress(clock, 3'000'000);
  ExactCompute compute(clock, &progress);
  const std::int64_t begin = clock.now();

  const std::int64_t end = compute.run(begin, 100'000'000).end;

  EXPECT_NEAR(double(end - begin), 100e6, 50);
}

}  // namespace
}  // namespace dlnb
