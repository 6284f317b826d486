// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

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
/// Computing 3:146). Only the lowest rank of each host asks, `leaders[rank]`, and tells the others on it, which have
/// the same clock.
Offset estimate_offset(const Control& control, Clock& clock, std::span<const int> leaders);

/// Rank 0's time for a reading of this rank's clock, with the drift between two estimates, and beyond the outer ones,
/// taken as linear. None: the clocks are the same.
std::int64_t on_first_clock(std::int64_t reading, std::span<const Offset> estimates);

/// Two ranks' clocks differ by at most this after correction: each host is off rank 0's by its own bound at most.
/// `bounds` of every rank, those of one host being the same clock's.
std::int64_t bound_of_pairs(std::span<const std::int64_t> bounds, std::span<const int> leaders);

}  // namespace dlnb
