// SPDX-License-Identifier: Apache-2.0
// Starts the ranks of a backend as processes. The launcher is a child of ours without a shell between, in a
// process group of its own, so that a terminal's Ctrl-C reaches us alone and the ranks can finish their
// iteration; it is told to end should we die first.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/log.hpp"
#include "executor/live/backend.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/live.hpp"
#include "executor/live/outstanding.hpp"

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

/// The signals of a run, held back so that they can be taken one by one.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGCHLD}) sigaddset(&held_, signal);
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& before() const { return before_; }
  /// The next one, or 0 after a tenth of a second: where other threads of the program do not hold SIGCHLD
  /// back, it may have gone to one of them.
  int next() const {
    const timespec limit{0, 100'000'000};
    const int signal = sigtimedwait(&held_, nullptr, &limit);
    return signal > 0 ? signal : 0;
  }

 private:
  sigset_t held_, before_;
};

[[noreturn]] void become(char** command, char** environment, const sigset_t& mask, pid_t parent) {
  // Between fork and exec: system calls only.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(int(Exit::lost_rank));
  const int nothing_to_read = open("/dev/null", O_RDONLY);
  if (nothing_to_read >= 0) dup2(nothing_to_read, STDIN_FILENO);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execve(command[0], command, environment);
  _exit(127);
}

}  // namespace

int launch(const RunSpec& spec, const std::vector<std::string>& command) {
  const Backend& backend = usable_backend(spec.backend);
  if (!backend.launcher)
    throw UserError("--backend", fmt::format("ranks of '{}' are threads and need no launcher", backend.name));
  Launcher launcher = backend.launcher(spec.ranks, progress_mode(spec.progress) == ProgressMode::thread);
  launcher.command.insert(launcher.command.end(), command.begin(), command.end());
  const FirstRankFolder folder;
  launcher.environment.push_back(folder.variable());
  std::vector<std::string> environment = environment_with(launcher.environment);
  const std::vector<char*> arguments = pointers(launcher.command), variables = pointers(environment);

  const HeldSignals signals;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Unavailable("run", fmt::format("cannot start the launcher: {}", std::strerror(errno)));
  if (child == 0)
    become(const_cast<char**>(arguments.data()), const_cast<char**>(variables.data()), signals.before(),
           parent);

  for (int asked = 0;;) {
    const int signal = signals.next();
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return verdict(status, folder.look(), asked);
    if (ended < 0 && errno != EINTR) throw LostRank("run", "the launcher is gone");
    if (signal == 0 || signal == SIGCHLD) continue;
    // First politely: launchers hand SIGUSR1 on to the ranks, which end after their iteration.
    if (++asked == 1) {
      folder.tell_signal(signal);
      log::info("ending after the current iteration; once more ends at once");
    }
    kill(asked > 2 ? -child : child, asked == 1 ? SIGUSR1 : asked == 2 ? SIGTERM : SIGKILL);
  }
}

}  // namespace dlnb
