// SPDX-License-Identifier: Apache-2.0
// Values as people type them behind `=`: TOML's, except that a word needs no quotes, also inside [] and {}.
#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <fmt/format.h>

#include "nouns/text_check.hpp"

namespace dlnb {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Calls `each` with every piece of `text` between separators outside of quotes and brackets.
template <class Each>
void split(std::string_view text, const std::string& where, Each each) {
  int depth = 0;
  char quote = 0;
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote) {
      if (c == '\\' && quote == '"') ++at;
      else if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (--depth < 0) throw UserError(where, fmt::format("'{}' closes nothing in {}", c, in_quotes(text)));
    } else if (c == ',' && depth == 0) {
      each(trimmed(text.substr(start, at - start)));
      start = at + 1;
    }
  }
  if (quote) throw UserError(where, "a quote is not closed in " + in_quotes(text));
  if (depth > 0) throw UserError(where, "a bracket is not closed in " + in_quotes(text));
  each(trimmed(text.substr(start)));
}

Value parse(std::string_view text, const std::string& where, int depth);

// The inside of "[…]" or "{…}".
std::string_view inside(std::string_view text, char closing, const std::string& where) {
  if (text.size() < 2 || text.back() != closing)
    throw UserError(where, fmt::format("expected '{}' at the end of {}", closing, in_quotes(text)));
  return trimmed(text.substr(1, text.size() - 2));
}

Value parse_array(std::string_view text, const std::string& where, int depth) {
  Value::Array array;
  const std::string_view items = inside(text, ']', where);
  if (!items.empty())
    split(items, where, [&](std::string_view item) { array.push_back(parse(item, where, depth + 1)); });
  return Value(std::move(array), where);
}

Value parse_table(std::string_view text, const std::string& where, int depth) {
  Value::Table table;
  const std::string_view items = inside(text, '}', where);
  if (items.empty()) return Value(std::move(table), where);
  split(items, where, [&](std::string_view item) {
    const auto equals = item.find('=');
    const std::string_view key = trimmed(item.substr(0, equals));
    if (equals == std::string_view::npos || key.empty())
      throw UserError(where, fmt::format("expected 'key = value', found {}", in_quotes(item)));
    for (const auto& member : table)
      if (member.first == key) throw UserError(where, "the key " + in_quotes(key) + " is there twice");
    table.emplace_back(std::string(key), parse(item.substr(equals + 1), where, depth + 1));
  });
  return Value(std::move(table), where);
}

Value parse(std::string_view text, const std::string& where, int depth) {
  text = trimmed(text);
  if (depth > deepest_nesting)
    throw UserError(where, fmt::format("nested deeper than {} levels", deepest_nesting));
  if (depth > 0 && text.empty()) throw UserError(where, "a value is missing between brackets");
  if (text.starts_with('[')) return parse_array(text, where, depth);
  if (text.starts_with('{')) return parse_table(text, where, depth);

  const bool in_toml_quotes = text.starts_with('"') || text.starts_with('\'');
  if (!in_toml_quotes && text.find_first_of("#\n\r") != std::string_view::npos)
    return Value(std::string(text), where);
  try {
    const Value document = parse_toml("value = " + std::string(text), where);
    const Value::Table& table = document.table();
    if (table.size() == 1) return Value(table.front().second.data(), where);
  } catch (const UserError&) {
    if (in_toml_quotes) throw UserError(where, "a quote is not closed in " + in_quotes(text));
  }
  return Value(std::string(text), where);
}

}  // namespace

Value parse_value(std::string_view text, const std::string& where) {
  check_text(text, where);
  return parse(text, where, 0);
}

}  // namespace dlnb
