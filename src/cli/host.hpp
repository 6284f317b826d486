// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dlnb {

/// Processors this process may run on: what binding and containers leave of the machine.
int usable_cores();

/// How well this host keeps time, seconds; median of many tries.
struct TimerQuality {
  double resolution = 0;       ///< smallest step of the monotonic clock that was seen
  double reading = 0;          ///< one reading of it
  double sleep_overshoot = 0;  ///< how much later than asked a 200 us sleep ends
  double worst_overshoot = 0;  ///< the same, 95th percentile
};
TimerQuality measure_timer();

/// Bytes that can still be had: the smaller of what the kernel calls available and what the control group
/// leaves; -1 where it cannot be told.
std::int64_t available_memory();
std::int64_t total_memory();

/// Programs in $PATH with one of these names, with their full path, in the order given.
std::vector<std::string> programs_found(const std::vector<std::string>& names);

/// Shared libraries with this prefix ("libmpi.so") in the loader's usual folders, links resolved.
std::vector<std::string> libraries_found(const std::string& prefix);

/// Accelerators whose device files are here: "2 NVIDIA", "1 AMD"; empty where there are none.
std::string accelerators_found();

}  // namespace dlnb
