// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dlnb {

/// A tree of configuration in which every value knows where it was written.
/// TOML files, JSON files, `--set key=value` and command-line options all become one of these.
class Value {
 public:
  using Array = std::vector<Value>;
  using Table = std::vector<std::pair<std::string, Value>>;  // in the order written
  using Data = std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table>;

  Value() = default;
  Value(Data data, std::string where) : data_(std::move(data)), where_(std::move(where)) {}

  const Data& data() const { return data_; }
  /// "runs/moe.toml:14", "--ranks" or "--set plan.data.buckets"; empty for built-in defaults.
  const std::string& where() const { return where_; }

  bool empty() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_table() const { return std::holds_alternative<Table>(data_); }
  bool is_array() const { return std::holds_alternative<Array>(data_); }
  bool is_string() const { return std::holds_alternative<std::string>(data_); }
  bool is_number() const {
    return std::holds_alternative<std::int64_t>(data_) || std::holds_alternative<double>(data_);
  }

  /// Throw UserError "<where> <key>: expected a table, found a string".
  const Table& table(std::string_view key = {}) const;
  const Array& array(std::string_view key = {}) const;

  /// The member called `key`, or nullptr (also when this is not a table).
  const Value* find(std::string_view key) const;
  /// The member at a dotted path ("plan.data.buckets"), or nullptr.
  const Value* find_path(std::string_view path) const;
  /// Sets a dotted path, making tables on the way; throws UserError where a value is in the way.
  void set_path(std::string_view path, Value value);
  /// Lays `other` over this: tables merge, everything else is replaced.
  void merge(const Value& other);

 private:
  Data data_;
  std::string where_;
};

/// Largest configuration file that is read; larger ones are refused before allocation.
inline constexpr std::int64_t largest_document = 64 << 20;

/// Reads .toml or .json by extension. Throws UserError (missing, unreadable, too large, syntax with file:line).
Value read_document(const std::filesystem::path& file);
/// The same, called `name` in messages.
Value read_document(const std::filesystem::path& file, const std::string& name);
Value parse_toml(std::string_view text, const std::string& name);
Value parse_json(std::string_view text, const std::string& name);
/// The TOML text of a table, members sorted by name; reading it gives the same values.
std::string write_toml(const Value& table);
/// One value as typed after `=`: "4", "true", "25 MiB", "rest", "[1, 2]", "{ stages = 8 }".
Value parse_value(std::string_view text, const std::string& where);

/// What a message calls a value: "runs/moe.toml:14 plan.data.buckets"; "--ranks" where the option says it all.
std::string where_of(const Value& value, std::string_view key);
/// "a table", "the text 'rest'", "the integer 4", … for "expected …, found …".
std::string describe(const Value& value);
/// Bad user input inside quotes: control characters made visible, cut where it is long.
std::string in_quotes(std::string_view text);

/// Throws UserError naming any member of `table` that is not in `known`, with the nearest known name.
void reject_unknown(const Value& table, std::string_view path, const std::vector<std::string>& known);

}  // namespace dlnb
