// SPDX-License-Identifier: Apache-2.0
#include "analysis/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace dlnb {
namespace {

TEST(NearestRank, IsTheCeilingOfTheShare) {
  EXPECT_EQ(nearest_rank(1, 0.5), 0u);
  EXPECT_EQ(nearest_rank(2, 0.5), 0u);     // ⌈1⌉: the 1st
  EXPECT_EQ(nearest_rank(3, 0.5), 1u);     // ⌈1.5⌉: the 2nd
  EXPECT_EQ(nearest_rank(20, 0.95), 18u);  // ⌈19⌉: the 19th, though 0.95 · 20 is a little more in binary
  EXPECT_EQ(nearest_rank(100, 0.99), 98u);
  EXPECT_EQ(nearest_rank(10, 0.99), 9u);
  EXPECT_EQ(nearest_rank(10, 0.0), 0u);
  EXPECT_EQ(nearest_rank(10, 1.0), 9u);
}

TEST(Spread, OfOneToAHundredSeconds) {
  std::vector<std::int64_t> samples(100);
  std::iota(samples.rbegin(), samples.rend(), 1);  // from 100 down to 1
  for (auto& sample : samples) sample *= 1'000'000'000;

  const Spread spread = spread_of(samples);

  EXPECT_EQ(spread.count, 100);
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.mean, (1 + 100) / 2.0);
  EXPECT_EQ(spread.median, 50);
  EXPECT_EQ(spread.p95, 95);
  EXPECT_EQ(spread.p99, 99);
  EXPECT_EQ(spread.max, 100);
}

TEST(Spread, OfOneSampleIsThatSample) {
  std::vector<std::int64_t> samples{2'000'000'000};

  const Spread spread = spread_of(samples);

  EXPECT_EQ(spread.count, 1);
  EXPECT_EQ(spread.min, 2);
  EXPECT_EQ(spread.median, 2);
  EXPECT_EQ(spread.p99, 2);
}

TEST(Spread, OfNothingIsZero) {
  EXPECT_EQ(spread_of({}).count, 0);
  EXPECT_EQ(spread_of({}).max, 0);
  EXPECT_EQ(median_of({}), 0);
}

TEST(Means, AreArithmeticOrGeometric) {
  const std::vector<double> samples{1, 4};

  EXPECT_DOUBLE_EQ(arithmetic_mean(samples).value, (1 + 4) / 2.0);
  EXPECT_DOUBLE_EQ(geometric_mean(samples).value, std::sqrt(1 * 4));
  EXPECT_EQ(geometric_mean(samples).count, 2);
  EXPECT_EQ(geometric_mean(samples).low, 1);
  EXPECT_EQ(geometric_mean(samples).high, 4);
}

TEST(Means, OfEqualSamplesStayWithinThem) {
  const std::vector<double> samples(7, 0.1);

  EXPECT_EQ(arithmetic_mean(samples).value, 0.1);
  EXPECT_EQ(geometric_mean(samples).value, 0.1);
}

TEST(Means, OfNothingHaveNoCount) { EXPECT_EQ(arithmetic_mean({}).count + geometric_mean({}).count, 0); }

}  // namespace
}  // namespace dlnb
