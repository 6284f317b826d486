// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "executor/live/control.hpp"
#include "executor/live/seating.hpp"

namespace dlnb {

/// Where a rank runs. Plain bytes: it travels.
struct Whereabouts {
  std::array<char, 64> machine{};  ///< boot id: ranks in several network namespaces or containers share it
  std::array<char, 64> host{};     ///< name
  std::array<char, 32> device{};   ///< PCI address of its accelerator
  Cpus allowed;

  Guest guest() const { return {allowed, device.data()}; }
};

/// Which ranks share this rank's machine: its cores, NUMA nodes, GPUs and energy counters.
struct Neighbours {
  std::vector<Whereabouts> all;  ///< by rank of the world
  std::vector<int> ranks;        ///< of this machine, ascending
  int own = 0;                   ///< this rank's place among them

  /// The first rank of a machine acts for it.
  bool leads() const { return own == 0; }
};

/// Collective over the world.
Neighbours find_neighbours(const Control& control);

}  // namespace dlnb
