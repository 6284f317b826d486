// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace dlnb::log {

/// Talk goes to stderr; results go to stdout. info: per run; debug: per rank; trace: per operation.
enum class Level { quiet, info, debug, trace };

void set_level(Level level);
void set_colour(bool colour);
void info(std::string_view message);
void debug(std::string_view message);
void warn(std::string_view message);

}  // namespace dlnb::log
