// SPDX-License-Identifier: Apache-2.0
// What the JSON documents of all kinds of results have in common. Not for headers: this one is heavy.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <dlnb/result.hpp>

namespace dlnb::json_parts {

using Json = nlohmann::ordered_json;

/// Refuses NaN and infinities, which JSON has not.
Json number(double value);
Json json_of(const Value& value);
Json json_of(const Provenance& provenance);
Json json_of(const LostRankState& lost);

/// Text from outside (environment, library versions) may be any bytes; JSON is UTF-8.
std::string text_of(const Json& json);

/// A document with members in order and rows one to a line, so that a large file can be compared by line.
class Document {
 public:
  void member(const char* name, const std::string& json);
  void member(const char* name, const Json& json) { member(name, text_of(json)); }
  std::string text() const { return text_ + "\n}\n"; }

 private:
  std::string text_ = "{";
};

template <class Rows, class Convert>
std::string lines(const Rows& rows, Convert convert) {
  std::string text = "[";
  for (const auto& row : rows) text += (text.size() > 1 ? ",\n  " : "\n  ") + text_of(convert(row));
  return text + (text.size() > 1 ? "\n ]" : "]");
}

}  // namespace dlnb::json_parts
