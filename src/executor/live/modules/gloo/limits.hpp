// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace dlnb::over_gloo {

/// For the others to come and to connect.
inline constexpr std::chrono::milliseconds patience = std::chrono::seconds(60);
/// Transfers wait for each other without one: whether a rank is lost is decided by our watchdog. gloo adds this to the
/// clock, so it cannot be its largest number.
inline constexpr std::chrono::milliseconds no_limit = std::chrono::hours(24 * 365);

}  // namespace dlnb::over_gloo
