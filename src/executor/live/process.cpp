// SPDX-License-Identifier: Apache-2.0
#include "executor/live/process.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace dlnb {
namespace {

struct Status {
  char state = 0;  // 0: there is no such process
  std::uint64_t start = 0;
};

// proc(5): the name in parentheses may hold anything, so fields are counted from the last of them.
Status status_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = text.rfind(')');
  Status status;
  if (name_end == std::string::npos) return status;
  std::istringstream fields(text.substr(name_end + 1));
  fields >> status.state;
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> status.start;
  return status;
}

}  // namespace

std::uint64_t process_start(pid_t process) { return status_of(process).start; }

std::string process_space() {
  std::error_code failure;
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot + " " + std::filesystem::read_symlink("/proc/self/ns/pid", failure).string();
}

Life life_of(pid_t process, std::uint64_t start) {
  const Status status = status_of(process);
  if (status.state == 0 || status.start != start || status.state == 'Z' || status.state == 'X')
    return Life::ended;
  return status.state == 'T' || status.state == 't' ? Life::stopped : Life::running;
}

}  // namespace dlnb
