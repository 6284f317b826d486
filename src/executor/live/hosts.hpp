// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "executor/live/control.hpp"

namespace dlnb {

/// What a rank knows of its host and wants of it. Plain bytes: it travels.
struct HostFacts {
  std::array<char, 128> identity{};  ///< host name, a space and the boot id: equal means one monotonic clock
  cpu_set_t cores{};                 ///< where this rank may run
  std::int64_t available = 0;        ///< bytes that can still be had; −1 unknown
  std::int64_t buffers = 0;          ///< bytes this rank will allocate
  std::int64_t library = 0;          ///< bytes the library is expected to take for it
  int threads = 1;                   ///< that want a core at the same time
};

HostFacts facts_of_this_host();

/// Whether all ranks read one monotonic clock.
bool one_clock(std::span<const HostFacts> ranks);

/// What ranks use of one machine. Containers and namespaces of one machine are several hosts, but they share its
/// cores and memory.
struct HostUse {
  std::string identity;  ///< of the first rank's host
  std::int64_t ranks = 0, threads = 0, cores = 0;
  std::int64_t available = -1;
  std::int64_t buffers = 0, library = 0;

  bool cores_shared() const { return threads > cores; }
};
/// One for each machine, in the order of their first ranks.
std::vector<HostUse> hosts_of(std::span<const HostFacts> ranks);

/// Why a run on these hosts cannot fit into memory, with the numbers; empty where it can.
std::string memory_shortage(std::span<const HostUse> hosts);

}  // namespace dlnb
