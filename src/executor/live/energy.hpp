// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/registry.hpp>
#include <dlnb/units.hpp>

namespace dlnb {

/// Where counters are looked for; a test looks elsewhere.
struct EnergyPlace {
  std::filesystem::path root = "/";
  std::string nvml = "libnvidia-ml.so.1";
  /// PCI addresses of the accelerators that count.
  std::vector<std::string> devices;
  bool all_devices = false;  ///< every accelerator there is
};

/// What was counted since the counters were opened.
struct EnergyReading {
  std::string device;  ///< PCI address; empty: of the machine's own parts
  double joules = 0;
};

/// Open counters. One thread at a time uses them.
class EnergyCounters {
 public:
  virtual ~EnergyCounters() = default;
  /// What is read, and how: "RAPL through powercap: package-0, package-1".
  virtual std::string method() const = 0;
  /// One for each of the places that are counted. Throws std::runtime_error.
  virtual std::vector<EnergyReading> read() = 0;
  /// They must be read at least this often, because they wrap or are samples of power; 0: whenever wanted.
  virtual Seconds longest_gap() const { return {}; }
};

/// A kind of counter. One file each in energies/.
struct EnergySource {
  std::string_view name;
  std::string_view summary;
  bool whole_machine;  ///< the other sources are part of it
  struct Opened {
    std::unique_ptr<EnergyCounters> counters;
    std::string missing;  ///< why there are none
  };
  Opened (*open)(const EnergyPlace&);
};
namespace energies {
Registry<EnergySource> all();
}

}  // namespace dlnb
