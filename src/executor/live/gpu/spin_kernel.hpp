// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "executor/live/gpu/driver.hpp"

namespace dlnb::gpu {

/// The kernel `spin_kernel(ticks)`, ticks in 64 bits: every thread spins until a clock of the device, the same for all
/// its multiprocessors and of constant rate, has gone on by so many ticks.
///   CUDA  PTX, which the driver compiles: %globaltimer, in ns; its step is the device's own, up to about 1 µs
///   HIP   source, compiled when it is asked for: wall_clock64, 100 MHz on most devices
inline constexpr char spin_kernel[] = "dlnb_spin";

extern const char* const spin_in_ptx;

/// What the driver loads as a module. Throws std::runtime_error.
std::string spin_image(const Driver& driver);

}  // namespace dlnb::gpu
