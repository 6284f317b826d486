// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <dlnb/trace.hpp>

#include "executor/live/clocks.hpp"

namespace dlnb {

/// A rank's record as bytes, for the way to rank 0.
std::vector<std::byte> pack(const RankTrace& trace);
RankTrace unpack(std::span<const std::byte> bytes);

/// Moves a record to rank 0's clock.
void to_first_clock(RankTrace& trace, std::span<const Offset> estimates);

/// Shifts all ranks so that the earliest iteration begins at 0.
void shift_to_common_start(std::vector<RankTrace>& ranks);

/// A run whose compute phases were off by more than this, on average, is INVALID,
inline constexpr double largest_compute_error = 0.01;
/// unless that is no more than this many ns per phase, as with phases of some microseconds.
inline constexpr std::int64_t smallest_compute_error = 2'000;

/// Marks the trace INVALID, with the rank and the numbers, where compute was emulated too badly. Where ranks share cores,
/// lateness is the machine's and already recorded as transfer: then it is only said. So it is where phases are kernels
/// on a device that they share with those of communication.
void judge_compute(Trace& trace, bool cores_shared, bool on_device);

}  // namespace dlnb
