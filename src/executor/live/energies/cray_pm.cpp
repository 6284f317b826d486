// SPDX-License-Identifier: Apache-2.0
// Counters of HPE Cray EX nodes: /sys/cray/pm_counters/energy holds "52134 J 1679941245 us", the energy of the whole
// node with its accelerators, brought up to date ten times a second.
#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <stdexcept>

#include "executor/live/energy.hpp"

namespace dlnb::energies {
namespace {

namespace fs = std::filesystem;

std::optional<double> joules_in(const fs::path& file) {
  std::ifstream stream(file);
  double joules = 0;
  std::string unit;
  return stream >> joules >> unit && unit == "J" ? std::optional(joules) : std::nullopt;
}

class Node final : public EnergyCounters {
 public:
  Node(fs::path file, double first) : file_(std::move(file)), first_(first) {}

  std::string method() const override {
    return "HPE Cray node counter (pm_counters), in steps of 1 J and 0.1 s";
  }
  std::vector<EnergyReading> read() override {
    const std::optional<double> now = joules_in(file_);
    if (!now) throw std::runtime_error(file_.string() + " holds no energy in J any more");
    return {{"", *now - first_}};
  }

 private:
  const fs::path file_;
  const double first_;
};

EnergySource::Opened open(const EnergyPlace& place) {
  const fs::path file = place.root / "sys/cray/pm_counters/energy";
  if (const std::optional<double> first = joules_in(file)) return {std::make_unique<Node>(file, *first), {}};
  return {nullptr, fmt::format("{} is not there: this is no HPE Cray EX node", file.string())};
}

}  // namespace

extern constinit const EnergySource cray_pm{
    .name = "cray_pm",
    .summary = "the node counter of HPE Cray EX machines, accelerators included",
    .whole_machine = true,
    .open = open,
};

}  // namespace dlnb::energies
