// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <dlnb/options.hpp>
#include <dlnb/run.hpp>  // read_spec, make_overrides

namespace dlnb {

/// Every option of a run, in the order of the help: key, type, default and help exist only in this table.
/// The keys are the members of a spec file; `flag_of` makes the command-line option of one.
std::vector<OptionInfo> run_options();

/// "message_scale" → "--message-scale"
std::string flag_of(std::string_view key);

/// The shipped plans, sorted by name.
struct NamedPlan {
  std::string name;
  std::string summary;
  std::string source;
};
std::vector<NamedPlan> shipped_plans();

}  // namespace dlnb
