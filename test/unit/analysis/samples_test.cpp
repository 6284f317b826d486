// SPDX-License-Identifier: Apache-2.0
#include "analysis/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

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

CountedSamples counted(const std::vector<std::int64_t>& samples) {
  CountedSamples counted;
  for (const std::int64_t sample : samples) counted.add(sample);
  return counted;
}

TEST(Spread, OfOneToAHundredSeconds) {
  std::vector<std::int64_t> samples(100);
  std::iota(samples.rbegin(), samples.rend(), 1);  // from 100 down to 1
  for (auto& sample : samples) sample *= 1'000'000'000;

  const Spread spread = counted(samples).spread();

  EXPECT_EQ(spread.count, 100);
  EXPECT_EQ(spread.min, 1);
  EXPECT_EQ(spread.mean, (1 + 100) / 2.0);
  EXPECT_EQ(spread.median, 50);
  EXPECT_EQ(spread.p95, 95);
  EXPECT_EQ(spread.p99, 99);
  EXPECT_EQ(spread.max, 100);
}

TEST(Spread, OfOneSampleIsThatSample) {
  const Spread spread = counted({2'000'000'000}).spread();

  EXPECT_EQ(spread.count, 1);
  EXPECT_EQ(spread.min, 2);
  EXPECT_EQ(spread.median, 2);
  EXPECT_EQ(spread.p99, 2);
}

TEST(Spread, OfNothingIsZero) {
  EXPECT_EQ(CountedSamples().spread().count, 0);
  EXPECT_EQ(CountedSamples().spread().max, 0);
  EXPECT_EQ(CountedSamples().median(), 0);
  EXPECT_EQ(median_of({}), 0);
}

TEST(Spread, IsThatOfTheSortedSamplesHoweverManyAreEqual) {
  std::mt19937 random(1);
  for (const std::int64_t values : {1, 2, 9, 1000, 1'000'000})
    for (const std::size_t count : {3u, 100u, 20'000u}) {
      std::vector<std::int64_t> samples(count);
      for (std::int64_t& sample : samples)
        sample = std::uniform_int_distribution<std::int64_t>(0, values)(random);
      CountedSamples of_median = counted(samples);

      const Spread spread = counted(samples).spread();

      std::ranges::sort(samples);
      const auto at = [&](double p) { return seconds_of(double(samples[nearest_rank(count, p)])); };
      ASSERT_EQ(spread.count, std::int64_t(count));
      ASSERT_EQ(spread.min, at(0));
      ASSERT_EQ(spread.median, at(0.5));
      ASSERT_EQ(spread.p95, at(0.95));
      ASSERT_EQ(spread.p99, at(0.99));
      ASSERT_EQ(spread.max, at(1));
      ASSERT_EQ(spread.mean,
                seconds_of(std::accumulate(samples.begin(), samples.end(), 0.0) / double(count)));
      ASSERT_EQ(of_median.median(), samples[nearest_rank(count, 0.5)]);
    }
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
