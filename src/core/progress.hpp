// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// One line on stderr that says how far the work is; silent until the command line switches it on, which it does
/// on a terminal only. Executors call it between iterations, never inside one that is timed.
namespace dlnb::progress {

void switch_on();
bool is_on();

/// Shows a bar once a second has passed since the first call, at most ten times a second.
void report(const char* what, std::int64_t done, std::int64_t of);

/// Takes the line away, where there is one: before anything else is said.
void clear();

}  // namespace dlnb::progress
