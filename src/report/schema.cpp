// SPDX-License-Identifier: Apache-2.0
// The part of JSON Schema (draft 2020-12) that our own schemas use.
#include "report/schema.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

namespace dlnb {
namespace {

using Json = nlohmann::json;

constexpr std::size_t longest_name = 60;

/// The way to a value; it lives on the stack and becomes text only where something is wrong.
struct Place {
  const Place* above = nullptr;
  const std::string* name = nullptr;
  std::size_t index = 0;

  std::string text() const {
    if (!above) return {};
    if (!name) return fmt::format("{}[{}]", above->text(), index);
    const std::string before = above->text();
    return before.empty() ? printable(*name, longest_name) : before + "." + printable(*name, longest_name);
  }
};

std::string words_for(const std::string& type) {
  if (type == "object") return "an object";
  if (type == "array") return "a list";
  if (type == "string") return "text";
  if (type == "boolean") return "true or false";
  if (type == "integer") return "an integer";
  return "a number";
}

std::string words_for(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "a list";
    case Json::value_t::string: return "the text " + in_quotes(value.get_ref<const std::string&>());
    default: return value.dump();
  }
}

bool is_a(const std::string& type, const Json& value) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  // 6.0 is an integer to JSON Schema: what counts is the value, not how it was written.
  if (type == "integer")
    return value.is_number_integer() ||
           (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
  return type == "number" && value.is_number();
}

class Validator {
 public:
  Validator(const Json& root, std::size_t most) : root_(root), most_(most) {}

  std::vector<Violation> found;

  void check(const Json& schema, const Json& value, const Place& at) {
    if (found.size() >= most_) return;
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) fail(at, "nothing is called so here");
      return;
    }
    // What is of another type has no members worth looking at.
    if (const auto type = schema.find("type"); type != schema.end() && !is_a(*type, value))
      return fail(
          at, fmt::format("expected {}, found {}", words_for(type->get<std::string>()), words_for(value)));
    for (auto keyword = schema.begin(); keyword != schema.end(); ++keyword)
      check_keyword(schema, keyword.key(), *keyword, value, at);
  }

 private:
  /// Looked up once: a timeline refers to the same definitions a million times.
  const Json& referred(const Json& reference) {
    const Json*& target = referred_[&reference];
    if (!target) target = &root_.at(Json::json_pointer(reference.get_ref<const std::string&>().substr(1)));
    return *target;
  }

  void fail(const Place& at, std::string problem) {
    if (found.size() < most_) found.push_back({at.text(), std::move(problem)});
  }

  void check_keyword(const Json& schema, const std::string& keyword, const Json& wanted, const Json& value,
                     const Place& at) {
    if (keyword == "$ref") {
      check(referred(wanted), value, at);
    } else if (keyword == "const") {
      if (value != wanted) fail(at, fmt::format("expected {}, found {}", wanted.dump(), words_for(value)));
    } else if (keyword == "enum") {
      if (std::find(wanted.begin(), wanted.end(), value) == wanted.end())
        fail(at, fmt::format("expected one of {}, found {}", wanted.dump(), words_for(value)));
    } else if (keyword == "minimum") {
      if (value.is_number() && value < wanted)
        fail(at, fmt::format("must be at least {}, found {}", wanted.dump(), value.dump()));
    } else if (keyword == "maximum") {
      if (value.is_number() && value > wanted)
        fail(at, fmt::format("must be at most {}, found {}", wanted.dump(), value.dump()));
    } else if (keyword == "required") {
      if (!value.is_object()) return;
      for (const Json& name : wanted)
        if (const auto& text = name.get_ref<const std::string&>(); !value.contains(text))
          fail({&at, &text}, "missing");
    } else if (keyword == "properties") {
      if (!value.is_object()) return;
      for (auto of = wanted.begin(); of != wanted.end(); ++of)
        if (const auto member = value.find(of.key()); member != value.end())
          check(*of, *member, {&at, &of.key()});
    } else if (keyword == "additionalProperties") {
      if (!value.is_object()) return;
      const auto properties = schema.find("properties");
      for (auto member = value.begin(); member != value.end(); ++member)
        if (properties == schema.end() || !properties->contains(member.key()))
          check(wanted, *member, {&at, &member.key()});
    } else if (keyword == "items") {
      if (!value.is_array()) return;
      for (std::size_t i = 0; i < value.size(); ++i) check(wanted, value[i], {&at, nullptr, i});
    } else if (keyword != "type" && keyword != "$schema" && keyword != "$defs" && keyword != "title" &&
               keyword != "description") {
      fail(at, "is under the keyword " + keyword + ", which this validator does not know");
    }
  }

  const Json& root_;
  std::size_t most_;
  std::unordered_map<const Json*, const Json*> referred_;
};

}  // namespace

std::vector<Violation> violations(const Json& schema, const Json& value, std::size_t most) {
  Validator validator(schema, most);
  validator.check(schema, value, {});
  return std::move(validator.found);
}

}  // namespace dlnb
