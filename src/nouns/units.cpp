// SPDX-License-Identifier: Apache-2.0
#include <dlnb/units.hpp>

#include <array>
#include <cmath>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

namespace dlnb {
namespace {

struct Prefix {
  const char* text;
  double factor;
};

constexpr std::array<Prefix, 7> decimal{
    {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}, {"P", 1e15}, {"E", 1e18}}};
constexpr std::array<Prefix, 4> of_seconds{{{"n", 1e-9}, {"u", 1e-6}, {"m", 1e-3}, {"", 1}}};

// `value` to three significant digits, without an exponent and without trailing zeros: 25.3, 1.5, 200, 1230.
std::string three_digits(double value) {
  const double rounded = std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr);
  return fmt::format("{}", rounded);
}

std::string with_prefix(double value, std::span<const Prefix> prefixes, const char* unit) {
  if (!std::isfinite(value)) return fmt::format("{} {}", value, unit);
  if (value == 0) return fmt::format("0 {}", unit);
  // 999.6 kB is 1 MB: the prefix is chosen after rounding.
  const double rounded = std::abs(std::strtod(fmt::format("{:.2e}", value).c_str(), nullptr));
  const Prefix* chosen = &prefixes.front();
  for (const Prefix& prefix : prefixes)
    if (rounded >= prefix.factor) chosen = &prefix;
  return fmt::format("{} {}{}", three_digits(value / chosen->factor), chosen->text, unit);
}

}  // namespace

const char* name_of(DataType type) {
  switch (type) {
    case DataType::float32: return "float32";
    case DataType::float16: return "float16";
    case DataType::bfloat16: return "bfloat16";
    case DataType::float8: return "float8";
  }
  return "?";
}

std::string counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string to_text(Seconds time) { return with_prefix(time.value, of_seconds, "s"); }
std::string to_text(Bytes size) { return with_prefix(double(size.value), decimal, "B"); }
std::string to_text(Flops work) { return with_prefix(work.value, decimal, "FLOP"); }
std::string to_text(FlopsPerSecond rate) { return with_prefix(rate.value, decimal, "FLOP/s"); }
// Links are sold and named in bits.
std::string to_text(BytesPerSecond rate) { return with_prefix(rate.value * 8, decimal, "bit/s"); }

}  // namespace dlnb
