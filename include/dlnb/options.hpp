// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include <dlnb/document.hpp>
#include <dlnb/units.hpp>

namespace dlnb {

/// What help, the reference pages and provenance say about one option.
struct OptionInfo {
  std::string name;
  std::string type;      ///< "integer", "size", "time", "one of: a, b", …
  std::string fallback;  ///< the default as the user would write it
  std::string help;
};

/// Readers: text with unit → quantity. Throw UserError with `value.where()`, `key` and what would be right.
/// A size is "25 MiB", "64 MB" or a count of bytes; a time "1.5 us"; a rate "200 Gbit/s" or "25 GB/s".
void read_value(const Value& value, std::string_view key, bool& out);
void read_value(const Value& value, std::string_view key, int& out);
void read_value(const Value& value, std::string_view key, std::int64_t& out);
void read_value(const Value& value, std::string_view key,
                double& out);  ///< also "1/64"; never NaN or infinite
void read_value(const Value& value, std::string_view key, std::string& out);
void read_value(const Value& value, std::string_view key, Seconds& out);
void read_value(const Value& value, std::string_view key, Bytes& out);
void read_value(const Value& value, std::string_view key, BytesPerSecond& out);
void read_value(const Value& value, std::string_view key, FlopsPerSecond& out);
void read_value(const Value& value, std::string_view key, DataType& out);  ///< "bf16" or "bfloat16", …
void read_value(const Value& value, std::string_view key, std::vector<std::string>& out);

std::string write_value(bool value);
std::string write_value(int value);
std::string write_value(std::int64_t value);
std::string write_value(double value);
std::string write_value(const std::string& value);
std::string write_value(Seconds value);
std::string write_value(Bytes value);
std::string write_value(BytesPerSecond value);
std::string write_value(FlopsPerSecond value);
std::string write_value(DataType value);
std::string write_value(const std::vector<std::string>& value);

std::string type_name(const bool&);
std::string type_name(const int&);
std::string type_name(const std::int64_t&);
std::string type_name(const double&);
std::string type_name(const std::string&);
std::string type_name(const Seconds&);
std::string type_name(const Bytes&);
std::string type_name(const BytesPerSecond&);
std::string type_name(const FlopsPerSecond&);
std::string type_name(const DataType&);
std::string type_name(const std::vector<std::string>&);

/// An enumerator and the word users write for it.
template <class Enum>
struct Word {
  std::string_view text;
  Enum value;
};

/// Inclusive limits of a number; outside them is a user error.
struct Range {
  double low = -1e300;
  double high = 1e300;
};
inline constexpr Range positive{1, 1e300};
inline constexpr Range not_negative{0, 1e300};
inline constexpr Range above_zero{1e-300, 1e300};

void check_range(const Value& value, std::string_view key, double number, Range range);
/// The same for what is written where an integer belongs, also beyond 64 bits; other texts are left alone.
void check_integer(const Value& value, std::string_view key, Range range);
[[noreturn]] void unknown_word(const Value& value, std::string_view key,
                               const std::vector<std::string>& words);

template <class Owner, class T>
struct Option {
  std::string_view name;
  T Owner::* member;
  std::string_view help;
  Range range;

  void read(const Value& value, std::string_view key, Owner& owner) const {
    // Before the type: of 1e15 iterations the range is what is wrong.
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) check_integer(value, key, range);
    read_value(value, key, owner.*member);
    if constexpr (requires(const T& v) { double(v); }) check_range(value, key, double(owner.*member), range);
    else if constexpr (requires(const T& v) { double(v.value); })
      check_range(value, key, double((owner.*member).value), range);
  }
  OptionInfo info(const Owner& defaults) const {
    return {std::string(name), type_name(defaults.*member), write_value(defaults.*member), std::string(help)};
  }
};

template <class Owner, class Enum, std::size_t N>
struct Choice {
  std::string_view name;
  Enum Owner::* member;
  std::string_view help;
  std::array<Word<Enum>, N> words;

  void read(const Value& value, std::string_view key, Owner& owner) const {
    std::string text;
    read_value(value, key, text);
    for (const auto& word : words)
      if (word.text == text) {
        owner.*member = word.value;
        return;
      }
    std::vector<std::string> known;
    for (const auto& word : words) known.emplace_back(word.text);
    unknown_word(value, key, known);
  }
  OptionInfo info(const Owner& defaults) const {
    OptionInfo info{std::string(name), "one of:", "", std::string(help)};
    for (const auto& word : words) {
      info.type += " " + std::string(word.text);
      if (word.value == defaults.*member) info.fallback = word.text;
    }
    return info;
  }
};

template <class Owner, class T>
constexpr auto option(std::string_view name, T Owner::* member, std::string_view help, Range range = {}) {
  return Option<Owner, T>{name, member, help, range};
}
template <class Owner, class Enum, std::size_t N>
constexpr auto choice(std::string_view name, Enum Owner::* member, std::string_view help,
                      std::array<Word<Enum>, N> words) {
  return Choice<Owner, Enum, N>{name, member, help, words};
}

/// The description of a parameter struct: help, config check, reference page and provenance read this.
template <class... Each>
struct Options {
  std::tuple<Each...> each;

  std::vector<std::string> names() const {
    return std::apply([](const auto&... o) { return std::vector<std::string>{std::string(o.name)...}; },
                      each);
  }
  /// Reads every member of `table` into `owner`; unknown members are user errors. `path` leads the key in messages.
  template <class Owner>
  void read(const Value& table, std::string_view path, Owner& owner) const {
    if (table.empty()) return;
    reject_unknown(table, path, names());
    auto one = [&](const auto& o) {
      if (const Value* value = table.find(o.name))
        o.read(*value, path.empty() ? std::string(o.name) : std::string(path) + "." + std::string(o.name),
               owner);
    };
    std::apply([&](const auto&... o) { (one(o), ...); }, each);
  }
  template <class Owner>
  std::vector<OptionInfo> info(const Owner& defaults) const {
    return std::apply([&](const auto&... o) { return std::vector<OptionInfo>{o.info(defaults)...}; }, each);
  }
};

template <class... Each>
constexpr auto options(Each... each) {
  return Options<Each...>{{each...}};
}

}  // namespace dlnb
