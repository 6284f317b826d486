// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dlnb::log {

/// Talk goes to stderr; results go to stdout. info: per run; debug: per rank; trace: per operation.
/// quiet keeps warnings.
enum class Level { quiet, info, debug, trace };

void set_level(Level level);
/// false: never; true (the default): on a terminal, unless NO_COLOR is set.
void set_colour(bool colour);
void trace(std::string_view message);
void debug(std::string_view message);
void info(std::string_view message);
void warn(std::string_view message);

}  // namespace dlnb::log
