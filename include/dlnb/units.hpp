// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace dlnb {

/// A number with a unit; only operations that make sense for the unit exist.
template <class Tag, class Rep>
struct Quantity {
  Rep value{};

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator+(Quantity other) const { return {value + other.value}; }
  constexpr Quantity operator-(Quantity other) const { return {value - other.value}; }
  constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
  constexpr double operator/(Quantity other) const { return double(value) / double(other.value); }
};

using Seconds = Quantity<struct SecondsTag, double>;
using Bytes = Quantity<struct BytesTag, std::int64_t>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>;
using Flops = Quantity<struct FlopsTag, double>;  ///< a count of floating-point operations, not a rate
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag, double>;

constexpr Seconds operator*(Seconds time, double factor) { return {time.value * factor}; }
constexpr Seconds operator*(double factor, Seconds time) { return {time.value * factor}; }
constexpr Seconds operator/(Seconds time, double divisor) { return {time.value / divisor}; }
constexpr BytesPerSecond operator*(BytesPerSecond rate, double factor) { return {rate.value * factor}; }
constexpr Seconds operator/(Bytes size, BytesPerSecond rate) { return {double(size.value) / rate.value}; }
constexpr Seconds operator/(Flops work, FlopsPerSecond rate) { return {work.value / rate.value}; }

namespace literals {
constexpr Seconds operator""_s(long double v) { return {double(v)}; }
constexpr Seconds operator""_ms(long double v) { return {double(v) * 1e-3}; }
constexpr Seconds operator""_us(long double v) { return {double(v) * 1e-6}; }
constexpr Seconds operator""_us(unsigned long long v) { return {double(v) * 1e-6}; }
constexpr Bytes operator""_MB(unsigned long long v) { return {std::int64_t(v) * 1'000'000}; }
constexpr Bytes operator""_KiB(unsigned long long v) { return {std::int64_t(v) << 10}; }
constexpr Bytes operator""_MiB(unsigned long long v) { return {std::int64_t(v) << 20}; }
constexpr BytesPerSecond operator""_GBps(unsigned long long v) { return {double(v) * 1e9}; }
constexpr BytesPerSecond operator""_Gbitps(unsigned long long v) { return {double(v) * 1e9 / 8}; }
}  // namespace literals

/// Element types of messages.
enum class DataType : std::uint8_t { float32, float16, bfloat16, float8 };

constexpr std::int64_t size_of(DataType type) {
  switch (type) {
    case DataType::float32: return 4;
    case DataType::float16:
    case DataType::bfloat16: return 2;
    case DataType::float8: return 1;
  }
  return 0;
}

/// "float32", "float16", "bfloat16", "float8"
const char* name_of(DataType type);

/// "1 rank", "8 ranks".
std::string counted(std::int64_t count, const char* what);

/// For people: "25.3 MB", "1.5 us", "200 Gbit/s", "312 TFLOP/s"; decimal units, three significant digits.
std::string to_text(Seconds time);
std::string to_text(Bytes size);
std::string to_text(BytesPerSecond rate);
std::string to_text(Flops work);
std::string to_text(FlopsPerSecond rate);

}  // namespace dlnb
