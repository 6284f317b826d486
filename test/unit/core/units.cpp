// SPDX-License-Identifier: Apache-2.0
#include <dlnb/units.hpp>

#include <gtest/gtest.h>

namespace dlnb {
namespace {

using namespace literals;

TEST(ToText, HasThreeSignificantDigits) {
  EXPECT_EQ(to_text(Bytes{25'296'179}), "25.3 MB");
  EXPECT_EQ(to_text(Seconds{17.14e-3}), "17.1 ms");
  EXPECT_EQ(to_text(Flops{5.347236904960e12}), "5.35 TFLOP");
}

TEST(ToText, DropsZerosThatSayNothing) {
  EXPECT_EQ(to_text(1.5_us), "1.5 us");
  EXPECT_EQ(to_text(200_Gbitps), "200 Gbit/s");
  EXPECT_EQ(to_text(FlopsPerSecond{312e12}), "312 TFLOP/s");
}

TEST(ToText, ChoosesThePrefixAfterRounding) {
  EXPECT_EQ(to_text(Bytes{999'499}), "999 kB");
  EXPECT_EQ(to_text(Bytes{999'500}), "1 MB");
}

TEST(ToText, IsDecimal) { EXPECT_EQ(to_text(64_MiB), "67.1 MB"); }  // 64 · 1.048576

TEST(ToText, KnowsTheEnds) {
  EXPECT_EQ(to_text(Bytes{0}), "0 B");
  EXPECT_EQ(to_text(Bytes{1}), "1 B");
  EXPECT_EQ(to_text(Seconds{0}), "0 s");
  EXPECT_EQ(to_text(Seconds{0.5e-9}), "0.5 ns");
  EXPECT_EQ(to_text(Seconds{7200}), "7200 s");
  EXPECT_EQ(to_text(Seconds{-2e-3}), "-2 ms");
}

TEST(ToText, CountsRatesInBits) { EXPECT_EQ(to_text(25_GBps), "200 Gbit/s"); }

TEST(DataType, HasNameAndSize) {
  EXPECT_STREQ(name_of(DataType::bfloat16), "bfloat16");
  EXPECT_EQ(size_of(DataType::float32), 4);
  EXPECT_EQ(size_of(DataType::float8), 1);
}

}  // namespace
}  // namespace dlnb
