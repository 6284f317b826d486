// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace dlnb {

/// The command line of this program for every rank, as it was typed; with --ranks where `ranks` is above 0, for where
/// their number was left open all of them must take the same. Throws Unavailable.
std::vector<std::string> rank_command(const Arguments& given, std::int64_t ranks);

}  // namespace dlnb
