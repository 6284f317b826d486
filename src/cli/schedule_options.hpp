// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <dlnb/schedule.hpp>

#include "cli/command.hpp"

namespace dlnb {

/// --role and --rank, with the options of a run in front.
std::vector<Argument> schedule_arguments();

/// The schedule that the options describe, lowered where they say so.
Schedule schedule_from(const Arguments& given);

/// The roles that --role and --rank choose, ascending; all where neither was given. Throws UserError.
std::vector<std::int64_t> chosen_roles(const Arguments& given, const Schedule& schedule);
/// The ranks they choose: --rank, or every rank of the chosen roles.
std::vector<std::int64_t> chosen_ranks(const Arguments& given, const Schedule& schedule);

}  // namespace dlnb
