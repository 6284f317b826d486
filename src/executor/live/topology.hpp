// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "executor/live/cpus.hpp"

namespace dlnb {

/// A core, with the hardware threads that the control group leaves of it.
struct Core {
  Cpus threads;
  int numa = -1;  ///< the kernel's number of its node
};

struct NumaNode {
  int number = 0;
  Cpus threads;  ///< nearest to it
};

struct Gpu {
  std::string address;  ///< on the PCI bus, "0000:3b:00.0"
  Cpus near;            ///< hardware threads with the shortest way to it
  int numa = -1;
};

/// What a host is made of, as hwloc sees it: cores in the order of their place in the machine (neighbours
/// share caches and NUMA nodes), GPUs in the order of their addresses.
struct Topology {
  std::vector<Core> cores;
  std::vector<NumaNode> nodes;
  std::vector<Gpu> gpus;
  bool of_this_host = true;  ///< not one that HWLOC_SYNTHETIC or HWLOC_XMLFILE puts in its place
};

/// Throws Unavailable where hwloc fails. Takes some milliseconds; one rank per host does it.
Topology topology_of_this_host();
/// "numa:2 core:4 pu:2"; for tests.
Topology synthetic_topology(const std::string& description);
/// As `lstopo machine.xml` writes; for tests.
Topology topology_in_xml(const std::string& xml);

/// "8 cores with 2 threads each, 2 NUMA nodes, 1 GPU"
std::string to_text(const Topology& topology);

}  // namespace dlnb
