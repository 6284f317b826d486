// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <dlnb/options.hpp>
#include <dlnb/run.hpp>
#include <dlnb/spec.hpp>

#include "cli/command.hpp"

namespace dlnb {

/// Who asks for the options of a run: some are of a live run only, some of a simulated one.
enum class Purpose { live, simulated, schedule };

/// --plan, --model and every other option of the table in config/, --spec and --set.
std::vector<Argument> run_arguments(Purpose purpose);

/// The spec file, then --set, then options: the later one wins. Throws UserError.
/// --job of the commands that run several jobs: only this one of them.
Argument job_argument();
/// The same where the files may have [[job]] tables; without them one job without a name.
std::vector<JobSpec> jobs_from(const Arguments& given, Purpose purpose);
RunSpec spec_from(const Arguments& given, Purpose purpose);

/// Keys that only the simulator reads. They are no mistake in a file that is simulated as well.
inline constexpr const char* simulated_keys[] = {"nodes",   "placement", "devices",
                                                 "network", "noise",     "overlap_slowdown"};
/// For commands that simulate nothing: throws UserError where a key that only the simulator reads is given on the command
/// line, and tells of one in a file.
void refuse_simulated_keys(const RunSpec& spec, const std::string& command);

/// Parts of these for commands with options of their own: the argument of an option, --spec and --set, and what was
/// given of both.
Argument argument_of(const OptionInfo& option, const std::string& group);
std::vector<Argument> file_arguments(const std::string& group, const std::string& example);
std::vector<std::filesystem::path> spec_files(const Arguments& given);
std::vector<Assignment> assignments_from(const Arguments& given, const std::vector<OptionInfo>& options);

}  // namespace dlnb
