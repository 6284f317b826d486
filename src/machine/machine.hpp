// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/document.hpp>
#include <dlnb/machine.hpp>
#include <dlnb/options.hpp>
#include <dlnb/registry.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace dlnb {

/// A shipped device by name, or a device TOML file.
Device load_device(const std::string& name_or_file, const std::string& where);
std::vector<std::string> shipped_devices();

/// A shipped machine by name, or a machine TOML file; of `nodes` nodes where that is not 0.
Machine load_machine(const std::string& name_or_file, const std::string& where, int nodes = 0);
/// What stands in the file of a machine, which can be read; means the same wherever it is written to.
Value machine_document(const std::string& name_or_file, const std::string& where);
std::vector<std::string> shipped_machines();

/// A shape of network. One file each in topologies/.
struct Topology {
  std::string_view name;
  std::string_view summary;
  std::vector<OptionInfo> (*options)();
  Routing routing = Routing::ecmp;  ///< of a machine file that does not say
  /// Builds it from its table in a machine file. `endpoints` is how many the machine hangs on it.
  std::shared_ptr<const Fabric> (*build)(const Value& table, int endpoints);
};
namespace topologies {
Registry<Topology> all();
}

/// What a placement is asked for.
struct PlacementTask {
  std::span<const int> nodes;  ///< it may take, ascending; they have devices enough
  std::int64_t ranks = 1;
  std::int64_t seed = 1;
  int block = 0;      ///< nodes on each first-level switch that it uses; 0: any number
  std::string where;  ///< what messages begin with
};

/// A way to choose devices for ranks. One file each in placements/.
struct PlacementKind {
  std::string_view name;
  std::string_view summary;
  bool on_switches = false;  ///< asks where switches and groups are; machines of one node have none
  bool blocks = false;       ///< "NAME-same-l1-N" asks for blocks of N nodes
  /// Throws UserError where the nodes do not allow it.
  Placement (*place)(const Machine&, const PlacementTask&);
};
namespace placements {
Registry<PlacementKind> all();
}

/// Where the ranks of one job are to go.
struct PlacementRequest {
  std::int64_t ranks = 1;
  std::string placement = "linear";
  std::string devices;  ///< "0-3,8": these, in this order; empty: as `placement` says
  std::int64_t seed = 1;
  /// What messages call "ranks", "devices" and "placement".
  std::function<std::string(const std::string& key)> where = [](const std::string& key) {
    return "--" + key;
  };
};

/// Places jobs one after the other. Named placements take nodes on which no earlier job has a device.
/// Throws UserError where that is impossible, or devices are named twice or do not exist.
std::vector<Placement> place(const Machine& machine, const std::vector<PlacementRequest>& jobs);

/// Throws UserError where the machine has fewer devices than ranks.
Placement place(const Machine& machine, std::int64_t ranks, const std::string& placement, std::int64_t seed,
                const std::string& where);

}  // namespace dlnb
