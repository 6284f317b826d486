// SPDX-License-Identifier: Apache-2.0
#include "executor/live/reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace dlnb {
namespace {

float value_of(DataType type, std::uint32_t bits) {
  std::array<std::byte, 4> element;
  std::memcpy(element.data(), &bits, sizeof bits);
  return reduction::decode(type, element.data());
}

std::uint32_t bits_of(DataType type, float value) {
  std::array<std::byte, 4> element{};
  reduction::encode(type, value, element.data());
  return std::bit_cast<std::uint32_t>(element);
}

struct Layout {
  DataType type;
  int exponent_bits, mantissa_bits;
  bool infinities;
};
constexpr Layout layouts[] = {
    {DataType::float16, 5, 10, true}, {DataType::bfloat16, 8, 7, true}, {DataType::float8, 4, 3, false}};

// The definition of a floating-point number, independent of how the code under test gets there.
double defined_value(const Layout& layout, std::uint32_t bits) {
  const int bias = (1 << (layout.exponent_bits - 1)) - 1;
  const std::uint32_t mantissa = bits & ((1u << layout.mantissa_bits) - 1);
  const int exponent = int(bits >> layout.mantissa_bits & ((1u << layout.exponent_bits) - 1));
  const double sign = bits >> (layout.exponent_bits + layout.mantissa_bits) & 1 ? -1 : 1;
  const double fraction = double(mantissa) / double(1 << layout.mantissa_bits);
  const int top = (1 << layout.exponent_bits) - 1;
  if (layout.infinities && exponent == top)
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  if (!layout.infinities && exponent == top && mantissa + 1 == 1u << layout.mantissa_bits)
    return std::numeric_limits<double>::quiet_NaN();
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

class EveryLayout : public testing::TestWithParam<Layout> {};

TEST_P(EveryLayout, DecodesEveryBitPatternAsDefined) {
  const Layout layout = GetParam();
  const std::uint32_t patterns = 1u << (8 * size_of(layout.type));

  for (std::uint32_t bits = 0; bits < patterns; ++bits) {
    const double expected = defined_value(layout, bits);
    const double found = double(value_of(layout.type, bits));
    if (std::isnan(expected)) ASSERT_TRUE(std::isnan(found)) << bits;
    else ASSERT_EQ(found, expected) << bits;
  }
}

TEST_P(EveryLayout, EncodesWhatItDecoded) {
  const Layout layout = GetParam();
  const std::uint32_t patterns = 1u << (8 * size_of(layout.type));

  for (std::uint32_t bits = 0; bits < patterns; ++bits) {
    if (std::isnan(defined_value(layout, bits))) continue;
    ASSERT_EQ(bits_of(layout.type, value_of(layout.type, bits)), bits);
  }
}

TEST_P(EveryLayout, RoundsToTheNearestAndTiesToEven) {
  const Layout layout = GetParam();
  // Neighbouring positive numbers have neighbouring bit patterns; their middle and its neighbours fit a
  // float32.
  const std::uint32_t largest =
      (1u << (8 * size_of(layout.type) - 1)) - 2 - (layout.infinities ? 1u << layout.mantissa_bits : 0);

  for (std::uint32_t low = 0; low < largest; ++low) {
    const float a = value_of(layout.type, low), b = value_of(layout.type, low + 1);
    if (!std::isfinite(b)) break;
    const float middle = float((double(a) + double(b)) / 2);
    const std::uint32_t even = low % 2 == 0 ? low : low + 1;
    ASSERT_EQ(bits_of(layout.type, middle), even) << low;
    ASSERT_EQ(bits_of(layout.type, std::nextafter(middle, a)), low) << low;
    ASSERT_EQ(bits_of(layout.type, std::nextafter(middle, b)), low + 1) << low;
  }
}

INSTANTIATE_TEST_SUITE_P(Reduction, EveryLayout, testing::ValuesIn(layouts),
                         [](const auto& tested) { return std::string(name_of(tested.param.type)); });

TEST(Reduction, LeavesTheRangeAsEachTypeDoes) {
  const float infinity = std::numeric_limits<float>::infinity();

  EXPECT_EQ(value_of(DataType::float16, bits_of(DataType::float16, 65'519.0f)), 65'504.0f);
  EXPECT_EQ(value_of(DataType::float16, bits_of(DataType::float16, 65'520.0f)), infinity);
  EXPECT_EQ(value_of(DataType::bfloat16, bits_of(DataType::bfloat16, 3.4e38f)), infinity);
  EXPECT_EQ(value_of(DataType::float8, bits_of(DataType::float8, 1e6f)), 448.0f);
  EXPECT_EQ(value_of(DataType::float8, bits_of(DataType::float8, -infinity)), -448.0f);
  for (const Layout& layout : layouts)
    EXPECT_TRUE(std::isnan(value_of(layout.type, bits_of(layout.type, std::nanf("")))))
        << name_of(layout.type);
}

TEST(Reduction, AddsInEveryType) {
  for (const DataType type : {DataType::float32, DataType::float16, DataType::bfloat16, DataType::float8}) {
    constexpr int elements = 37;  // no multiple of a vector
    const auto size = std::size_t(size_of(type));
    std::vector<std::byte> term(elements * size), sum(elements * size);
    for (int i = 0; i < elements; ++i) {
      reduction::encode(type, float(i % 8), &term[std::size_t(i) * size]);
      reduction::encode(type, float(i % 9), &sum[std::size_t(i) * size]);
    }

    reduction::add(type, term.data(), sum.data(), elements);

    for (int i = 0; i < elements; ++i)
      EXPECT_EQ(reduction::decode(type, &sum[std::size_t(i) * size]), float(i % 8 + i % 9))
          << name_of(type) << i;
  }
}

}  // namespace
}  // namespace dlnb
