// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/document.hpp>
#include <dlnb/options.hpp>
#include <dlnb/spec.hpp>

namespace dlnb {

/// Every option of a run, in the order of the help: key, type, default and help exist only in this table.
/// The keys are the members of a spec file; `flag_of` makes the command-line option of one.
std::vector<OptionInfo> run_options();

/// "message_scale" → "--message-scale"
std::string flag_of(std::string_view key);

/// One value from the command line.
struct Assignment {
  std::string key;    ///< "ranks" or a dotted path, "plan.pipeline.stages"
  std::string text;   ///< as typed
  std::string where;  ///< "--ranks", "--set plan.pipeline.stages": what messages call it
};

/// The command line's values as one tree for `read_spec`; later ones win, and `plan` as a whole goes before
/// members of it. Throws UserError.
Value make_overrides(const std::vector<Assignment>& assignments);

/// What the user asked for: the files in order, then the overrides, each laid over the ones before it.
///   `plan` is a shipped plan's name, a plan file, a composition ("tensor=4,pipeline=8,data=rest") or a table of
///   passes. A name or composition replaces the plan of earlier layers; a table without `name` changes it.
///   `scale` stands for `message_scale` and `compute_scale`, unless the same layer gives those too.
///   `gradient_dtype` follows `dtype` where it is not given.
///   `flavour` is the plan's own where it is "auto": paper for the shipped plans, pytorch for compositions.
///   Paths in a file are relative to that file.
/// Throws UserError with file:line or option for unknown keys, wrong types, values out of range.
RunSpec read_spec(const std::vector<std::filesystem::path>& spec_files, const Value& overrides);

/// The shipped plans, sorted by name.
struct NamedPlan {
  std::string name;
  std::string summary;
  std::string source;
};
std::vector<NamedPlan> shipped_plans();

}  // namespace dlnb
