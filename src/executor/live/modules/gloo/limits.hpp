// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace dlnb::over_gloo {

/// For the others to come and to connect. Who watches the start of the world (arrival.hpp) ends it much earlier, and says
/// who is missing.
inline constexpr std::chrono::milliseconds patience = std::chrono::hours(24);
/// Transfers wait for each other without one: whether a rank is lost is decided by our watchdog. gloo adds this to the
/// clock, so it cannot be its largest number.
inline constexpr std::chrono::milliseconds no_limit = std::chrono::hours(24 * 365);

}  // namespace dlnb::over_gloo
