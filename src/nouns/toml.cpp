// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <type_traits>
#include <utility>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <fmt/format.h>
#include <toml++/toml.h>

#include "nouns/text_check.hpp"

namespace dlnb {
namespace {

// toml++ keeps tables sorted by name; the source positions of the keys bring back the order written.
class Converter {
 public:
  explicit Converter(const std::string& name) : name_(name) {}

  Value convert(const toml::node& node, toml::source_position at, int depth) const {
    const std::string where = fmt::format("{}:{}", name_, at.line);
    if (depth > deepest_nesting)
      throw UserError(where, fmt::format("nested deeper than {} levels", deepest_nesting));
    if (const auto* table = node.as_table()) return Value(convert(*table, depth), where);
    if (const auto* array = node.as_array()) {
      Value::Array values;
      for (const toml::node& element : *array)
        values.push_back(convert(element, element.source().begin, depth + 1));
      return Value(std::move(values), where);
    }
    if (const auto* text = node.as_string()) return Value(text->get(), where);
    if (const auto* integer = node.as_integer()) return Value(integer->get(), where);
    if (const auto* number = node.as_floating_point()) return Value(number->get(), where);
    if (const auto* truth = node.as_boolean()) return Value(truth->get(), where);
    throw UserError(where, "dates and times of day are not used here");
  }

 private:
  Value::Table convert(const toml::table& table, int depth) const {
    std::vector<std::pair<const toml::key*, const toml::node*>> members;
    for (const auto& [key, node] : table) members.emplace_back(&key, &node);
    std::sort(members.begin(), members.end(),
              [](const auto& a, const auto& b) { return a.first->source().begin < b.first->source().begin; });

    Value::Table values;
    for (const auto& [key, node] : members)
      values.emplace_back(std::string(key->str()), convert(*node, key->source().begin, depth + 1));
    return values;
  }

  const std::string& name_;
};

// A table path of a million dots would overflow the stack of any recursive reader, destructors included.
void check_dots(std::string_view text, const std::string& name) {
  int dots = 0;
  for (std::size_t at = 1; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n' || c == ',' || c == '=' || c == '#') dots = 0;
    else if (c == '.' && text[at - 1] != '.' && ++dots > 4 * deepest_nesting)
      throw UserError(fmt::format("{}:{}", name, line_at(text, at)), "a key has too many dots");
  }
}

/// Hands `keep` the node of a value; nothing of an empty one.
template <class Keep>
void node_of(const Value& value, Keep keep);

toml::table table_of(const Value& value) {
  toml::table table;
  for (const auto& [key, member] : value.table())
    node_of(member, [&, name = key](auto&& node) {
      table.insert_or_assign(name, std::forward<decltype(node)>(node));
    });
  return table;
}

toml::array array_of(const Value& value) {
  toml::array array;
  for (const Value& element : value.array())
    node_of(element, [&](auto&& node) { array.push_back(std::forward<decltype(node)>(node)); });
  return array;
}

template <class Keep>
void node_of(const Value& value, Keep keep) {
  if (value.is_table()) return keep(table_of(value));
  if (value.is_array()) return keep(array_of(value));
  std::visit(
      [&](const auto& scalar) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(scalar)>, std::monostate> &&
                      !std::is_same_v<std::decay_t<decltype(scalar)>, Value::Array> &&
                      !std::is_same_v<std::decay_t<decltype(scalar)>, Value::Table>)
          keep(scalar);
      },
      value.data());
}

}  // namespace

Value parse_toml(std::string_view text, const std::string& name) {
  check_text(text, name);
  check_dots(text, name);
  try {
    const toml::table table = toml::parse(text);
    return Converter(name).convert(table, {1, 1}, 0);
  } catch (const toml::parse_error& error) {
    throw UserError(fmt::format("{}:{}", name, error.source().begin.line), std::string(error.description()));
  }
}

std::string write_toml(const Value& table) {
  std::ostringstream text;
  text << table_of(table) << '\n';
  return std::move(text).str();
}

}  // namespace dlnb
