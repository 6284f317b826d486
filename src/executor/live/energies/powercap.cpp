// SPDX-License-Identifier: Apache-2.0
// RAPL, the energy counters of x86 processors, as the kernel's powercap framework shows them: microjoules that start
// again at 0 behind `max_energy_range_uj` (docs.kernel.org/power/powercap). A zone intel-rapl:N called package-… is a
// processor; its zone called dram, where there is one, is the memory behind it and not part of it. psys is the whole
// platform by the board's own measure and would count processors twice; intel-rapl-mmio shows the same counters again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "executor/live/energy.hpp"

namespace dlnb::energies {
namespace {

namespace fs = std::filesystem;

constexpr double largest_power = 2000;  // W of one zone; sets how often it is read

std::string line_in(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

struct Number {
  std::int64_t value = -1;
  int error = 0;  ///< as errno: why it cannot be read
};

/// The number in a file.
Number number_in(const fs::path& file) {
  std::FILE* const stream = std::fopen(file.c_str(), "re");
  if (!stream) return {-1, errno};
  Number number;
  if (std::fscanf(stream, "%ld", &number.value) != 1) number.error = EIO;
  std::fclose(stream);
  return number;
}

struct Zone {
  fs::path file;
  std::string name;
  std::int64_t range = 0;  // µJ
  std::int64_t last = 0;
  std::int64_t counted = 0;
};

class Zones final : public EnergyCounters {
 public:
  explicit Zones(std::vector<Zone> zones) : zones_(std::move(zones)) {
    for (Zone& zone : zones_) zone.last = now(zone);
  }

  std::string method() const override {
    std::vector<std::string> names;
    for (const Zone& zone : zones_) names.push_back(zone.name);
    return fmt::format("RAPL through powercap: {}", fmt::join(names, ", "));
  }

  std::vector<EnergyReading> read() override {
    std::int64_t all = 0;
    for (Zone& zone : zones_) {
      const std::int64_t value = now(zone);
      zone.counted += value >= zone.last ? value - zone.last : zone.range - zone.last + value;
      zone.last = value;
      all += zone.counted;
    }
    return {{"", double(all) / 1e6}};
  }

  Seconds longest_gap() const override {
    double shortest = 60;
    for (const Zone& zone : zones_) shortest = std::min(shortest, double(zone.range) / 1e6 / largest_power);
    return {shortest};
  }

 private:
  static std::int64_t now(const Zone& zone) {
    const Number number = number_in(zone.file);
    if (number.error != 0) throw std::system_error(number.error, std::generic_category(), zone.file.string());
    return number.value;
  }

  std::vector<Zone> zones_;
};

std::vector<fs::path> folders_in(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure))
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

EnergySource::Opened open(const EnergyPlace& place) {
  const fs::path folder = place.root / "sys/class/powercap";
  std::vector<Zone> zones;
  const auto add = [&](const fs::path& zone, const std::string& name) {
    zones.push_back({zone / "energy_uj", name, number_in(zone / "max_energy_range_uj").value});
  };
  for (const fs::path& processor : folders_in(folder, "intel-rapl:")) {
    const std::string name = line_in(processor / "name");
    if (!name.starts_with("package-")) continue;
    add(processor, name);
    for (const fs::path& part : folders_in(processor, processor.filename().string() + ":"))
      if (line_in(part / "name") == "dram") add(part, name + " dram");
  }
  if (zones.empty())
    return {nullptr,
            fmt::format("no processor counts energy in {} (virtual machines have none)", folder.string())};
  try {
    return {std::make_unique<Zones>(std::move(zones)), {}};
  } catch (const std::system_error& error) {
    const bool forbidden = error.code() == std::errc::permission_denied;
    return {nullptr,
            std::string(error.what()) +
                (forbidden ? "; the administrator can allow it: chmod a+r on the energy_uj files" : "")};
  }
}

}  // namespace

extern constinit const EnergySource powercap{
    .name = "powercap",
    .summary = "RAPL counters of processors and their memory, microjoules",
    .whole_machine = false,
    .open = open,
};

}  // namespace dlnb::energies
