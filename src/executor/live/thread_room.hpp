// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dlnb {

/// Whether so many ranks can be threads of this process, asked before the first of them is made. Throws UserError where
/// what they keep about each other does not fit into memory, Unavailable where the system gives no more threads.
void check_room_for_threads(std::int64_t ranks, bool helper_threads);

}  // namespace dlnb
