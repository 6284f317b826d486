// SPDX-License-Identifier: Apache-2.0
// What disturbs a simulated run: the name of a kind, a table { kind, … }, or an array of these. Kinds and what describes
// them are known where they are used.
#pragma once

#include <string>
#include <string_view>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

namespace dlnb {

/// A name as the table that it stands for; all else as it is.
inline Value noise_table(const Value& noise) {
  return noise.is_string() ? Value(Value::Table{{"kind", noise}}, noise.where()) : noise;
}

/// Each described by itself. Throws UserError where something is neither a name nor a table.
inline Value noise_tables(const Value& noise, std::string_view key) {
  Value::Array tables;
  const auto add = [&](const Value& one) {
    if (!one.is_string() && !one.is_table())
      throw UserError(where_of(one, key), "expected a kind of noise or a table, found " + describe(one),
                      "for example { kind = \"periodic\", period = \"10 ms\", duration = \"25 us\" }");
    tables.push_back(noise_table(one));
  };
  if (noise.is_array())
    for (const Value& one : noise.array(key)) add(one);
  else add(noise);
  return {std::move(tables), noise.where()};
}

/// Makes room in `below` for the noise of a layer that says which kind: options of another one do not stay.
inline void make_room_for_noise(Value& below, const Value& layer) {
  const Value* noise = layer.find("noise");
  if (noise != nullptr && below.find("noise") != nullptr &&
      (!noise->is_table() || noise->find("kind") != nullptr))
    below.set_path("noise", Value());
}

template <class Spec>
struct NoiseOption {
  std::string_view name;
  Value Spec::* member;
  std::string_view help;

  void read(const Value& value, std::string_view key, Spec& spec) const {
    spec.*member = noise_tables(value, key);
  }
  OptionInfo info(const Spec&) const { return {std::string(name), "noise", "none", std::string(help)}; }
};

}  // namespace dlnb
