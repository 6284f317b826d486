// SPDX-License-Identifier: Apache-2.0
#include "executor/live/stopping.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dlnb {
namespace {

constexpr std::int64_t second = 1'000'000'000;

RunSpec spec_of(int iterations) {
  RunSpec spec;
  spec.iterations = iterations;
  return spec;
}

TEST(Stopping, AfterTheFixedCount) {
  const RunSpec spec = spec_of(3);
  const StoppingRule rule(spec);

  EXPECT_EQ(rule.last(2, 0), "");
  EXPECT_EQ(rule.last(3, 0), "iterations");
}

TEST(Stopping, NotBeforeTheShortestTime) {
  RunSpec spec = spec_of(3);
  spec.min_time = {2};
  const StoppingRule rule(spec);

  EXPECT_EQ(rule.last(3, second), "");
  EXPECT_EQ(rule.last(9, 2 * second), "min_time");
  EXPECT_EQ(rule.last(3, 2 * second), "iterations");
}

TEST(Stopping, NotBehindTheLongestTime) {
  RunSpec spec = spec_of(100);
  spec.max_time = {2};
  const StoppingRule rule(spec);

  EXPECT_EQ(rule.last(5, second), "");
  EXPECT_EQ(rule.last(6, 2 * second), "max_time");
}

TEST(Stopping, WhenTheSpreadIsSmallEnough) {
  RunSpec spec = spec_of(2);
  spec.spread = 0.02;
  spec.max_iterations = 50;
  StoppingRule even(spec), uneven(spec);
  for (int i = 0; i < 10; ++i) even.add(i % 2 == 0 ? 100 : 101), uneven.add(i % 2 == 0 ? 100 : 200);

  EXPECT_EQ(even.last(1, 0), "");
  EXPECT_EQ(even.last(11, 0), "spread");
  EXPECT_EQ(uneven.last(11, 0), "");
  EXPECT_EQ(uneven.last(50, 0), "max_iterations");
}

TEST(Stopping, NeverByItselfWhereItGoesOnForever) {
  RunSpec spec = spec_of(1);
  spec.forever = true;

  EXPECT_EQ(StoppingRule(spec).last(1'000'000, 1'000'000 * second), "");
}

TEST(Stopping, TheHalfWidthIsStudentsOfTheMean) {
  Running times;
  EXPECT_TRUE(std::isinf(times.relative_half_width()));
  for (const double value : {9.0, 10.0, 11.0}) times.add(value);

  // Deviation 1, three values, two degrees of freedom: 4.303 · 1 / √3 / 10.
  EXPECT_NEAR(times.relative_half_width(), 4.303 / std::sqrt(3.0) / 10, 1e-9);
}

TEST(Stopping, StudentsQuantilesAreTheTables) {
  EXPECT_DOUBLE_EQ(student_t_95(1), 12.706);
  EXPECT_NEAR(student_t_95(7), 2.365, 2e-3);
  EXPECT_NEAR(student_t_95(30), 2.042, 1e-3);
  EXPECT_NEAR(student_t_95(1'000'000), 1.960, 1e-3);
}

}  // namespace
}  // namespace dlnb
