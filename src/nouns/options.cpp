// SPDX-License-Identifier: Apache-2.0
// Readers and writers of single values; what is written reads back as the same value.
#include <dlnb/options.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include <dlnb/error.hpp>
#include <fmt/format.h>

namespace dlnb {
namespace {

struct Unit {
  std::string_view text;
  double factor;
};

// The first entry of each list is the base; the order is that of the messages. Decimal prefixes are powers of
// ten, binary ones (IEC 80000-13) powers of two; capital B is a byte and is never guessed from a small one.
constexpr Unit size_units[] = {{"B", 1},           {"kB", 1e3},           {"MB", 1e6},
                               {"GB", 1e9},        {"TB", 1e12},          {"KiB", 1024.0},
                               {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 0x1p40}};
constexpr Unit time_units[] = {{"s", 1},     {"ms", 1e-3}, {"us", 1e-6}, {"µs", 1e-6},
                               {"ns", 1e-9}, {"min", 60},  {"h", 3600}};
constexpr Unit rate_units[] = {
    {"B/s", 1},          {"kB/s", 1e3},        {"MB/s", 1e6},       {"GB/s", 1e9},       {"TB/s", 1e12},
    {"KiB/s", 1024.0},   {"MiB/s", 1048576.0}, {"GiB/s", 0x1p30},   {"TiB/s", 0x1p40},   {"bit/s", 0.125},
    {"kbit/s", 1e3 / 8}, {"Mbit/s", 1e6 / 8},  {"Gbit/s", 1e9 / 8}, {"Tbit/s", 1e12 / 8}};
constexpr Unit compute_units[] = {{"FLOP/s", 1},     {"kFLOP/s", 1e3},  {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9},
                                  {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}, {"EFLOP/s", 1e18}};

[[noreturn]] void expected(const Value& value, std::string_view key, std::string_view what,
                           std::string_view hint = {}) {
  throw UserError(where_of(value, key), fmt::format("expected {}, found {}", what, describe(value)), hint);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// A finite decimal number at the start of `text`, which is cut behind it.
std::optional<double> take_number(std::string_view& text) {
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  // from_chars would also read "inf" and "nan"
  const std::string_view unsigned_digits = digits.starts_with('-') ? digits.substr(1) : digits;
  if (unsigned_digits.empty() ||
      !(std::isdigit(static_cast<unsigned char>(unsigned_digits[0])) || unsigned_digits[0] == '.'))
    return std::nullopt;
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  text = text.substr(std::size_t(end - text.data()));
  return number;
}

std::string list_of(std::span<const Unit> units) {
  std::string list;
  for (const Unit& unit : units) list += (list.empty() ? "" : ", ") + std::string(unit.text);
  return list;
}

// "25 MiB" → number and factor. `what` is "a size, such as '25 MiB'".
std::pair<double, double> read_quantity(const Value& value, std::string_view key, std::span<const Unit> units,
                                        std::string_view what) {
  const auto* text = std::get_if<std::string>(&value.data());
  if (!text) expected(value, key, what, "units: " + list_of(units));
  std::string_view rest = trimmed(*text);
  const std::optional<double> number = take_number(rest);
  if (!number) expected(value, key, what, "units: " + list_of(units));
  rest = trimmed(rest);
  if (rest.empty() && *number == 0) return {0, 1};  // zero is the one number that needs no unit
  if (rest.empty())
    throw UserError(where_of(value, key), in_quotes(*text) + " has no unit", "units: " + list_of(units));
  for (const Unit& unit : units)
    if (unit.text == rest) {
      if (*number < 0)
        throw UserError(where_of(value, key), "must not be negative, found " + in_quotes(*text));
      return {*number, unit.factor};
    }
  throw UserError(where_of(value, key),
                  fmt::format("unknown unit {} in {}", in_quotes(rest), in_quotes(*text)),
                  "units: " + list_of(units));
}

double read_scaled(const Value& value, std::string_view key, std::span<const Unit> units,
                   std::string_view what) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data()); integer && *integer == 0) return 0;
  if (value.is_number())
    throw UserError(where_of(value, key), describe(value) + " has no unit", "units: " + list_of(units));
  const auto [number, factor] = read_quantity(value, key, units, what);
  const double scaled = number * factor;
  if (!std::isfinite(scaled)) expected(value, key, "a smaller number");
  return scaled;
}

// The shortest text in one of `units` that reads back as exactly `value`.
std::string write_scaled(double value, std::span<const Unit> units) {
  std::string shortest;
  for (const Unit& unit : units) {
    const double number = value / unit.factor;
    if (number * unit.factor != value) continue;
    std::string text = fmt::format("{} {}", number, unit.text);
    if (shortest.empty() || text.size() < shortest.size()) shortest = std::move(text);
  }
  return shortest.empty() ? fmt::format("{} {}", value, units.front().text) : shortest;
}

constexpr std::string_view a_size = "a size such as '25 MiB'";
constexpr double past_int64 = 0x1p63;
constexpr std::int64_t least_integer = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most_integer = std::numeric_limits<std::int64_t>::max();

}  // namespace

void read_value(const Value& value, std::string_view key, bool& out) {
  const auto* truth = std::get_if<bool>(&value.data());
  if (!truth) expected(value, key, "true or false");
  out = *truth;
}

void read_value(const Value& value, std::string_view key, std::int64_t& out) {
  const auto* integer = std::get_if<std::int64_t>(&value.data());
  if (!integer) expected(value, key, "an integer");
  out = *integer;
}

void read_value(const Value& value, std::string_view key, int& out) {
  std::int64_t wide = 0;
  read_value(value, key, wide);
  constexpr std::int64_t least = std::numeric_limits<int>::min(), most = std::numeric_limits<int>::max();
  if (wide < least || wide > most)
    throw UserError(where_of(value, key),
                    fmt::format("must be between {} and {}, found {}", least, most, wide));
  out = int(wide);
}

void read_value(const Value& value, std::string_view key, double& out) {
  constexpr std::string_view what = "a number or a ratio such as '1/64'";
  if (const auto* integer = std::get_if<std::int64_t>(&value.data())) out = double(*integer);
  else if (const auto* number = std::get_if<double>(&value.data())) out = *number;
  else if (const auto* text = std::get_if<std::string>(&value.data())) {
    std::string_view rest = trimmed(*text);
    const std::optional<double> numerator = take_number(rest);
    rest = trimmed(rest);
    if (!numerator || (!rest.empty() && rest[0] != '/')) expected(value, key, what);
    double denominator = 1;
    if (!rest.empty()) {
      rest = trimmed(rest.substr(1));
      const std::optional<double> below = take_number(rest);
      if (!below || !trimmed(rest).empty()) expected(value, key, what);
      if (*below == 0) throw UserError(where_of(value, key), "division by zero in " + in_quotes(*text));
      denominator = *below;
    }
    out = *numerator / denominator;
  } else {
    expected(value, key, what);
  }
  if (!std::isfinite(out))
    throw UserError(where_of(value, key), "must be a finite number, found " + describe(value));
}

void read_value(const Value& value, std::string_view key, std::string& out) {
  const auto* text = std::get_if<std::string>(&value.data());
  if (!text) expected(value, key, "text");
  out = *text;
}

void read_value(const Value& value, std::string_view key, Seconds& out) {
  out.value = read_scaled(value, key, time_units, "a time such as '1.5 us'");
}

void read_value(const Value& value, std::string_view key, Bytes& out) {
  if (const auto* count = std::get_if<std::int64_t>(&value.data())) {
    if (*count < 0)
      throw UserError(where_of(value, key), fmt::format("must not be negative, found {}", *count));
    out.value = *count;
    return;
  }
  const auto [number, factor] = read_quantity(value, key, size_units, a_size);
  const double bytes = number * factor;
  if (bytes >= past_int64) throw UserError(where_of(value, key), describe(value) + " does not fit 63 bits");
  // 0.3 MB is 300,000 bytes although neither factor is exact; a real fraction of a byte is a mistake.
  const double whole = std::round(bytes);
  if (std::abs(bytes - whole) > 1e-9 * std::max(1.0, bytes))
    throw UserError(where_of(value, key), describe(value) + " is not a whole number of bytes");
  out.value = std::int64_t(whole);
}

void read_value(const Value& value, std::string_view key, BytesPerSecond& out) {
  out.value = read_scaled(value, key, rate_units, "a rate such as '200 Gbit/s' or '25 GB/s'");
}

void read_value(const Value& value, std::string_view key, FlopsPerSecond& out) {
  out.value = read_scaled(value, key, compute_units, "a rate such as '312 TFLOP/s'");
}

void read_value(const Value& value, std::string_view key, DataType& out) {
  struct Name {
    std::string_view text;
    DataType type;
  };
  constexpr Name names[] = {{"float32", DataType::float32},   {"float16", DataType::float16},
                            {"bfloat16", DataType::bfloat16}, {"float8", DataType::float8},
                            {"fp32", DataType::float32},      {"fp16", DataType::float16},
                            {"bf16", DataType::bfloat16},     {"fp8", DataType::float8}};
  std::string text;
  read_value(value, key, text);
  std::vector<std::string> known;
  for (const Name& name : names) {
    if (name.text == text) {
      out = name.type;
      return;
    }
    known.emplace_back(name.text);
  }
  unknown_word(value, key, known);
}

void read_value(const Value& value, std::string_view key, std::vector<std::string>& out) {
  out.clear();
  for (const Value& element : value.array(key)) read_value(element, key, out.emplace_back());
}

std::string write_value(bool value) { return value ? "true" : "false"; }
std::string write_value(int value) { return std::to_string(value); }
std::string write_value(std::int64_t value) { return std::to_string(value); }
std::string write_value(double value) { return fmt::format("{}", value); }
std::string write_value(const std::string& value) { return value; }
std::string write_value(DataType value) { return name_of(value); }

std::string write_value(Seconds value) {
  return value.value == 0 ? "0" : write_scaled(value.value, time_units);
}
std::string write_value(BytesPerSecond value) { return write_scaled(value.value, rate_units); }
std::string write_value(FlopsPerSecond value) { return write_scaled(value.value, compute_units); }

std::string write_value(Bytes value) {
  std::string shortest = std::to_string(value.value);  // a count of bytes needs no unit
  if (value.value == 0) return shortest;
  for (const Unit& unit : size_units) {
    const auto factor = std::int64_t(unit.factor);
    if (factor == 1 || value.value % factor != 0) continue;
    std::string text = fmt::format("{} {}", value.value / factor, unit.text);
    if (text.size() < shortest.size()) shortest = std::move(text);
  }
  return shortest;
}

std::string write_value(const std::vector<std::string>& value) {
  std::string text = "[";
  for (const std::string& element : value) text += (text.size() > 1 ? ", " : "") + element;
  return text + "]";
}

std::string type_name(const bool&) { return "true or false"; }
std::string type_name(const int&) { return "integer"; }
std::string type_name(const std::int64_t&) { return "integer"; }
std::string type_name(const double&) { return "number"; }
std::string type_name(const std::string&) { return "text"; }
std::string type_name(const Seconds&) { return "time"; }
std::string type_name(const Bytes&) { return "size"; }
std::string type_name(const BytesPerSecond&) { return "bandwidth"; }
std::string type_name(const FlopsPerSecond&) { return "compute rate"; }
std::string type_name(const DataType&) { return "one of: float32, float16, bfloat16, float8"; }
std::string type_name(const std::vector<std::string>&) { return "list of text"; }

void check_range(const Value& value, std::string_view key, double number, Range range) {
  if (number >= range.low && number <= range.high) return;
  std::string limit;
  if (number > range.high) limit = fmt::format("at most {}", range.high);
  else if (range.low == above_zero.low) limit = "above zero";
  else limit = fmt::format("at least {}", range.low);
  throw UserError(where_of(value, key), fmt::format("must be {}, found {}", limit, describe(value)));
}

void check_integer(const Value& value, std::string_view key, Range range) {
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data()))
    return check_range(value, key, double(*integer), range);
  if (const auto* real = std::get_if<double>(&value.data())) number = *real;
  else if (const auto* text = std::get_if<std::string>(&value.data())) {
    // What does not fit 64 bits came through as text.
    std::string_view digits = trimmed(*text);
    const std::optional<double> read = take_number(digits);
    if (!read || !digits.empty() || text->find_first_of(".eE") != std::string::npos) return;
    number = *read;
  } else {
    return;
  }
  if (!std::isfinite(number)) return;
  check_range(value, key, number, range);
  if (number >= past_int64)
    throw UserError(where_of(value, key),
                    fmt::format("must be at most {}, found {}", most_integer, describe(value)));
  if (number < -past_int64)
    throw UserError(where_of(value, key),
                    fmt::format("must be at least {}, found {}", least_integer, describe(value)));
}

void unknown_word(const Value& value, std::string_view key, const std::vector<std::string>& words) {
  std::string text;
  read_value(value, key, text);
  throw UserError(where_of(value, key), "nothing is called " + in_quotes(text), choose_one_of(text, words));
}

}  // namespace dlnb
