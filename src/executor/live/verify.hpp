// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <dlnb/schedule.hpp>

#include "executor/live/binding.hpp"
#include "executor/live/transport.hpp"
#include "executor/live/watchdog.hpp"

namespace dlnb {

struct Verification {
  int operations = 0;    ///< distinct ones this rank took part in
  std::string mismatch;  ///< the first: operation, element, what is there, what should be; empty where none
};

/// Runs every distinct operation of the rank's program once, in the form (blocking or not) the program uses,
/// with data that tells member and position, and compares every element that arrived. Collective; leaves the buffers
/// zeroed.
///
/// Sums are of small integers, exact in every element type in any order of addition.
Verification verify(const Schedule& schedule, const Binding& binding, Transport& transport,
                    Watchdog& watchdog);

}  // namespace dlnb
