// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include <dlnb/coll.hpp>
#include <dlnb/options.hpp>
#include <dlnb/run.hpp>

namespace dlnb {

/// Every option of `coll`, in the order of the help; keys of a spec file as well.
std::vector<OptionInfo> coll_options();

/// As make_overrides and read_spec, of these options. Throw UserError.
Value make_coll_overrides(const std::vector<Assignment>& assignments);
CollSpec read_coll_spec(const std::vector<std::filesystem::path>& spec_files, const Value& overrides);

/// Throws UserError where values do not go together, once the number of ranks is known.
void check_coll_spec(const CollSpec& spec);

}  // namespace dlnb
