// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "executor/live/compute.hpp"
#include "executor/live/control.hpp"

namespace dlnb {

/// One estimate of how far rank 0's clock is ahead of this rank's.
struct Offset {
  std::int64_t at = 0;     ///< this rank's clock when it was made
  std::int64_t ahead = 0;  ///< ns to add to this rank's clock
  std::int64_t bound = 0;  ///< the estimate is off by at most this
};

/// Ping-pong with rank 0, collective over the world. Of many round trips the shortest is taken: the answer
/// was given somewhere within it, so its middle is off by at most half of it (Cristian 1989, Distributed
/// Computing 3:146).
Offset estimate_offset(const Control& control, Clock& clock);

/// Rank 0's time for a reading of this rank's clock, with the drift between two estimates taken as linear.
std::int64_t on_first_clock(std::int64_t reading, const Offset& before, const Offset& after);

}  // namespace dlnb
