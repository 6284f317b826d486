// SPDX-License-Identifier: Apache-2.0
#include "unit/report/schema.hpp"

#include <algorithm>

namespace dlnb {
namespace {

using Json = nlohmann::json;

class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  std::vector<std::string> problems;

  void check(const Json& schema, const Json& value, const std::string& where) {
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) fail(where, "is not allowed");
      return;
    }
    for (const auto& [keyword, wanted] : schema.items()) check_keyword(schema, keyword, wanted, value, where);
  }

 private:
  void fail(const std::string& where, const std::string& problem) {
    problems.push_back(where + " " + problem);
  }

  static bool is_a(const std::string& type, const Json& value) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    return type == "number" && value.is_number();
  }

  void check_keyword(const Json& schema, const std::string& keyword, const Json& wanted, const Json& value,
                     const std::string& where) {
    if (keyword == "$ref") {
      check(root_.at(Json::json_pointer(wanted.get<std::string>().substr(1))), value, where);
    } else if (keyword == "type") {
      if (!is_a(wanted, value)) fail(where, "is not of type " + wanted.get<std::string>());
    } else if (keyword == "const") {
      if (value != wanted) fail(where, "is not " + wanted.dump());
    } else if (keyword == "enum") {
      if (std::find(wanted.begin(), wanted.end(), value) == wanted.end())
        fail(where, "is none of the choices");
    } else if (keyword == "minimum") {
      if (value.is_number() && value < wanted) fail(where, "is too small");
    } else if (keyword == "maximum") {
      if (value.is_number() && value > wanted) fail(where, "is too large");
    } else if (keyword == "required") {
      for (const std::string name : wanted)
        if (!value.contains(name)) fail(where + "/" + name, "is missing");
    } else if (keyword == "properties") {
      for (const auto& [name, of] : wanted.items())
        if (value.contains(name)) check(of, value.at(name), where + "/" + name);
    } else if (keyword == "additionalProperties") {
      for (const auto& [name, each] : value.items())
        if (!schema.value("properties", Json::object()).contains(name))
          check(wanted, each, where + "/" + name);
    } else if (keyword == "items") {
      for (std::size_t i = 0; i < value.size(); ++i)
        check(wanted, value.at(i), where + "/" + std::to_string(i));
    } else if (keyword != "$schema" && keyword != "$defs" && keyword != "title" && keyword != "description") {
      fail(where, "is under the keyword " + keyword + ", which this validator does not know");
    }
  }

  const Json& root_;
};

}  // namespace

std::vector<std::string> violations(const Json& schema, const Json& value) {
  Validator validator(schema);
  validator.check(schema, value, "");
  return validator.problems;
}

}  // namespace dlnb
