// SPDX-License-Identifier: Apache-2.0
#include "core/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <dlnb/error.hpp>

extern char** environ;

namespace dlnb {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view word = *entry;
    const std::string_view name = word.substr(0, word.find('='));
    if (std::ranges::none_of(added, [&](const auto& one) { return one.first == name; }))
      environment.emplace_back(word);
  }
  for (const auto& [name, value] : added) environment.push_back(name + "=" + value);
  return environment;
}

[[noreturn]] void become(char** command, char** environment, const sigset_t& mask, pid_t parent, bool quiet,
                         int output) {
  // Between fork and exec: system calls only.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(int(Exit::lost_rank));
  const int nothing_to_read = open("/dev/null", O_RDONLY);
  if (nothing_to_read >= 0) dup2(nothing_to_read, STDIN_FILENO);
  if (quiet) output = open("/dev/null", O_WRONLY);
  if (output >= 0) dup2(output, STDOUT_FILENO);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execve(command[0], command, environment);
  _exit(127);
}

}  // namespace

HeldSignals::HeldSignals() {
  sigemptyset(&held_);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGCHLD}) sigaddset(&held_, signal);
  pthread_sigmask(SIG_BLOCK, &held_, &before_);
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

pid_t start_process(std::vector<std::string> command,
                    const std::vector<std::pair<std::string, std::string>>& added, const sigset_t& mask,
                    bool quiet, int output) {
  std::vector<std::string> environment = environment_with(added);
  std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0)
    throw Unavailable("run", fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
  if (child == 0) become(arguments.data(), variables.data(), mask, parent, quiet, output);
  return child;
}

}  // namespace dlnb
