// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"

namespace dlnb {

/// Options that every command takes.
std::vector<Argument> global_arguments();

/// Names of commands that hold other commands, with what they are for: "schedule".
std::vector<std::pair<std::string_view, std::string_view>> command_groups();

/// What `--help` prints for a command, or for the program where `name` is empty.
std::string help_text(std::string_view name);

/// Parses the command line, runs the command, and returns the exit code.
/// Throws UserError for a line that cannot be understood, and whatever the command throws.
int run_command_line(int argc, char** argv);

}  // namespace dlnb
