// SPDX-License-Identifier: Apache-2.0
#include "machine/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <dlnb/error.hpp>

namespace dlnb {

Value without(const Value& table, std::initializer_list<std::string_view> keys) {
  Value::Table rest;
  for (const auto& [key, value] : table.table())
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) rest.emplace_back(key, value);
  return Value(std::move(rest), table.where());
}

void require_members(const Value& table, std::string_view path,
                     std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (!table.find(key))
      throw UserError(located(table, fmt::format("{}{}{}", path, path.empty() ? "" : ".", key)),
                      "is missing");
}

std::string located(const Value& value, std::string_view key) {
  return value.where().empty() ? std::string(key) : fmt::format("{} {}", value.where(), key);
}

}  // namespace dlnb
