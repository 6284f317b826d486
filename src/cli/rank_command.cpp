// SPDX-License-Identifier: Apache-2.0
#include "cli/rank_command.hpp"

#include <filesystem>

#include <fmt/format.h>

#include <dlnb/error.hpp>

namespace dlnb {

std::vector<std::string> rank_command(const Arguments& given, std::int64_t ranks) {
  std::error_code failure;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) throw Unavailable("/proc/self/exe", failure.message(), "start the ranks with mpirun yourself");
  std::vector<std::string> command{program.string()};
  command.insert(command.end(), given.line.begin(), given.line.end());
  if (ranks > 0) command.insert(command.end(), {"--ranks", fmt::format("{}", ranks)});
  return command;
}

}  // namespace dlnb
