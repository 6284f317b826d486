// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/document.hpp>
#include <dlnb/machine.hpp>
#include <dlnb/options.hpp>
#include <dlnb/registry.hpp>
#include <memory>
#include <string>
#include <vector>

namespace dlnb {

/// A shipped device by name, or a device TOML file.
Device load_device(const std::string& name_or_file, const std::string& where);
std::vector<std::string> shipped_devices();

/// A shipped machine by name, or a machine TOML file.
Machine load_machine(const std::string& name_or_file, const std::string& where);
std::vector<std::string> shipped_machines();

/// A shape of network. One file each in topologies/.
struct Topology {
  std::string_view name;
  std::string_view summary;
  std::vector<OptionInfo> (*options)();
  /// Builds it from its table in a machine file. `endpoints` is how many the machine hangs on it.
  std::shared_ptr<const Fabric> (*build)(const Value& table, int endpoints);
};
namespace topologies {
Registry<Topology> all();
}

/// A way to choose devices for ranks. One file each in placements/.
struct PlacementKind {
  std::string_view name;
  std::string_view summary;
  Placement (*place)(const Machine&, std::int64_t ranks, std::int64_t seed);
};
namespace placements {
Registry<PlacementKind> all();
}

/// Throws UserError where the machine has fewer devices than ranks.
Placement place(const Machine& machine, std::int64_t ranks, const std::string& placement, std::int64_t seed,
                const std::string& where);

}  // namespace dlnb
