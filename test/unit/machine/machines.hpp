// SPDX-License-Identifier: Apache-2.0
// What the machine suites share: topology tables from text, and walks over a fabric's cables.
#pragma once

#include <unistd.h>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "machine/wiring.hpp"

namespace dlnb::test {

inline std::shared_ptr<const Fabric> build(const std::string& topology, const std::string& table,
                                           int endpoints) {
  return entry_called(topologies::all(), topology, "test").build(parse_toml(table, "t.toml"), endpoints);
}

inline const Wiring& wiring_of(const Fabric& fabric) { return dynamic_cast<const Wiring&>(fabric); }

inline std::vector<LinkIndex> route(const Fabric& fabric, int from, int to, std::uint64_t flow = 0) {
  std::vector<LinkIndex> links;
  fabric.route(from, to, flow, links);
  return links;
}

/// A small instance of every topology; several where there are variants.
struct Instance {
  const char* name;
  const char* topology;
  const char* table;
  int endpoints;
};

inline const std::vector<Instance> instances{
    {"one_switch", "switch", "capacity = '300 GB/s'", 8},
    {"planes", "switch", "capacity = '25 GB/s'\nplanes = 4\nport = 'nic'", 8},
    {"lonely", "switch", "capacity = '25 GB/s'", 1},
    {"full_mesh", "mesh", "capacity = '100 GB/s'", 5},
    {"mesh_ring", "mesh", "capacity = '50 GB/s'\nlinks = ['0-1', '1-2 x2', '2-3', '3-4', '4-5', '5-0 x4']",
     6},
    {"mesh_with_hubs", "mesh",
     "capacity = '25 GB/s'\nhubs = 2\nlinks = ['0-1', '2-3', '0-4', '1-4', '2-5', '3-5', '4-5 64 GB/s']", 4},
    {"slurm", "slurm_tree",
     "file = '" DLNB_TEST_DATA
     "/fixtures/slurm/topology.conf'\nendpoint_capacity = '10 GB/s'\nnode_ports = 2\ntaper = 2",
     24},
    {"two_levels", "fat_tree",
     "leaves = 4\nspines = 3\nports = 4\nleaf_links = 2\nendpoint_capacity = '25 GB/s'\nleaf_capacity = '25 "
     "GB/s'",
     16},
    {"rails", "fat_tree",
     "leaves = 4\nspines = 2\nports = 4\nnode_ports = 4\nnode_switches = 4\nendpoint_capacity = '25 GB/s'\n"
     "leaf_capacity = '25 GB/s'",
     16},
    {"pods", "fat_tree",
     "pods = 3\nleaves = 2\nspines = 2\nports = 2\ncore_links = 3\nendpoint_capacity = '25 GB/s'\n"
     "leaf_capacity = '25 GB/s'\ncore_capacity = '50 GB/s'",
     11},
    {"dragonfly_one_cable", "dragonfly",
     "groups = 5\nswitches = 4\nports = 2\nendpoint_capacity = '25 GB/s'\nlocal_capacity = '25 GB/s'\n"
     "global_capacity = '25 GB/s'",
     40},
    {"dragonfly_many_cables", "dragonfly",
     "groups = 3\nswitches = 4\nports = 2\nlocal_links = 2\nglobal_links = 7\nendpoint_capacity = '25 GB/s'\n"
     "local_capacity = '25 GB/s'\nglobal_capacity = '25 GB/s'",
     24},
    {"dragonfly_spread_nodes", "dragonfly",
     "groups = 2\nswitches = 3\nports = 4\nnode_ports = 4\nnode_switches = 2\nglobal_links = 2\n"
     "endpoint_capacity = '25 GB/s'\nlocal_capacity = '25 GB/s'\nglobal_capacity = '25 GB/s'",
     24},
    {"one_group", "dragonfly",
     "groups = 1\nswitches = 4\nports = 2\nendpoint_capacity = '25 GB/s'\nlocal_capacity = '25 GB/s'\n"
     "global_capacity = '25 GB/s'",
     8},
    {"grid_group", "dragonfly",
     "groups = 1\nswitches = 6\nrows = 2\nlocal_links = 2\ncolumn_links = 3\nports = 2\nendpoint_capacity = "
     "'25 GB/s'\n"
     "local_capacity = '25 GB/s'\nglobal_capacity = '25 GB/s'",
     12},
    {"torus", "torus", "shape = '4x3x2'\nports = 2\nendpoint_capacity = '25 GB/s'\ncapacity = '25 GB/s'", 48},
    {"long_torus", "torus", "shape = '6x1'\nendpoint_capacity = '25 GB/s'\ncapacity = '25 GB/s'", 6},
    {"plus", "dragonfly_plus",
     "groups = 4\nleaves = 3\nspines = 2\nports = 2\nleaf_links = 2\nglobal_links = 3\nendpoint_capacity = "
     "'12.5 GB/s'\n"
     "leaf_capacity = '25 GB/s'\nglobal_capacity = '25 GB/s'",
     23},
};

/// A folder of its own for one test's files.
class Folder {
 public:
  Folder() {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("dlnb_machine_" + std::to_string(::getpid()) + "_" + std::to_string(made++));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

inline const std::string device_file =
    "name = 'toy'\nsummary = 'a toy'\nsource = 'invented for tests'\npeak = '100 TFLOP/s'\npeak_type = "
    "'bf16'\n"
    "memory_bandwidth = '1 TB/s'\nmemory = '16 GB'\n";

}  // namespace dlnb::test
