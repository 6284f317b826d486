// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace dlnb {

/// When a process of this host was started, in the kernel's ticks since boot; 0 where there is none.
std::uint64_t process_start(pid_t process);

/// Equal where two processes see each other under the same numbers, on the same clock.
std::string process_space();

enum class Life : std::uint8_t { running, stopped, ended, unknown };
/// `start` tells the process from a later one with the same number.
Life life_of(pid_t process, std::uint64_t start);

}  // namespace dlnb
