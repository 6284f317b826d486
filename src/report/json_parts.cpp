// SPDX-License-Identifier: Apache-2.0
#include "report/json_parts.hpp"

#include <cmath>

#include <dlnb/error.hpp>

namespace dlnb::json_parts {

Json number(double value) {
  DLNB_REQUIRE(std::isfinite(value), "a result holds numbers only");
  return value;
}

Json json_of(const Value& value) {
  struct Visitor {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(bool flag) const { return flag; }
    Json operator()(std::int64_t count) const { return count; }
    Json operator()(double real) const { return number(real); }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(const Value::Array& array) const {
      Json json = Json::array();
      for (const Value& each : array) json.push_back(json_of(each));
      return json;
    }
    Json operator()(const Value::Table& table) const {
      Json json = Json::object();
      for (const auto& [key, each] : table) json[key] = json_of(each);
      return json;
    }
  };
  return std::visit(Visitor{}, value.data());
}

Json json_of(const Provenance& provenance) {
  Json json{
      {"version", provenance.version}, {"commit", provenance.commit}, {"compiler", provenance.compiler}};
  // Left out of simulated results, which are the same bytes every time.
  if (!provenance.time.empty()) json["time"] = provenance.time;
  if (!provenance.host.empty()) json["host"] = provenance.host;
  Json environment = Json::object();
  for (const auto& [name, value] : provenance.environment) environment[name] = value;
  json["environment"] = std::move(environment);
  return json;
}

Json json_of(const LostRankState& lost) {
  return {{"rank", lost.rank}, {"state", lost.state}, {"place", lost.place}};
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void Document::member(const char* name, const std::string& json) {
  text_ += std::string(text_.size() > 1 ? ",\n \"" : "\n \"") + name + "\": " + json;
}

}  // namespace dlnb::json_parts
