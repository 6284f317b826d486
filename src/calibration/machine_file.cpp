// SPDX-License-Identifier: Apache-2.0
#include "calibration/machine_file.hpp"

#include <fmt/format.h>

#include <dlnb/options.hpp>

namespace dlnb {
namespace {

Value text(std::string word) { return Value(std::move(word), ""); }

}  // namespace

std::string machine_file(const Value& base, const Calibration& calibration, const std::string& name,
                         const std::string& source) {
  Value file(Value::Table{}, "");
  file.set_path("name", text(name));
  file.set_path("summary", text(source));
  file.set_path("source", text(source));
  for (const auto& [key, value] : base.table())
    if (!file.find(key) && key != "software") file.set_path(key, value);
  // What chooses algorithms stays as the structure has it: the costs were fitted to them.
  if (const Value* software = base.find("software"))
    for (const auto& [key, value] : software->table())
      if (!calibration.costs.contains(key)) file.set_path("software." + key, value);
  file.set_path("software.source", text(source));
  for (const auto& [operation, cost] : calibration.costs) {
    Value own(Value::Table{}, "");
    own.set_path("start", text(write_value(cost.start)));
    own.set_path("step", text(write_value(cost.step)));
    own.set_path("efficiency", Value(cost.efficiency, ""));
    file.set_path("software." + operation, std::move(own));
  }
  return write_toml(file);
}

Value one_node_machine(std::int64_t devices, const std::string& device, BytesPerSecond capacity,
                       BytesPerSecond backplane) {
  Value file(Value::Table{}, "");
  file.set_path("device", text(device));
  file.set_path("devices_per_node", Value(devices, ""));
  file.set_path("node.topology", text("switch"));
  file.set_path("node.capacity", text(write_value(capacity)));
  if (backplane.value > 0) file.set_path("node.backplane", text(write_value(backplane)));
  return file;
}

}  // namespace dlnb
