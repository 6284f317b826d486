// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <dlnb/spec.hpp>

#include "cli/command.hpp"

namespace dlnb {

/// Who asks for the options of a run: some are of a live run only, some of a simulated one.
enum class Purpose { live, simulated, schedule };

/// --plan, --model and every other option of the table in config/, --spec and --set.
std::vector<Argument> run_arguments(Purpose purpose);

/// The spec file, then --set, then options: the later one wins. Throws UserError.
RunSpec spec_from(const Arguments& given, Purpose purpose);

}  // namespace dlnb
