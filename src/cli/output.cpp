// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

constexpr const char* progress_variable = "DLNB_SHOW_PROGRESS";

bool is_terminal() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) && !(terminal && std::strcmp(terminal, "dumb") == 0);
}

}  // namespace

void guard_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF) {
      // The lowest free number is given out, which is this one: the smaller ones are open by now.
      if (open("/dev/null", O_RDWR) != descriptor) std::_Exit(int(Exit::unavailable));
    }
  std::signal(SIGPIPE, SIG_IGN);
}

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(std::size_t(written));
    } else if (errno == EPIPE) {
      return;
    } else if (errno != EINTR && errno != EAGAIN) {
      throw UserError("stdout", std::string("cannot be written: ") + std::strerror(errno),
                      "make room, or send it elsewhere");
    }
  }
}

bool colour_wanted(bool no_colour_option) {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_colour_option || (no_color && *no_color)) return false;
  return is_terminal();
}

bool progress_wanted() {
  const bool handed_on = std::getenv(progress_variable) != nullptr;
  unsetenv(progress_variable);
  return handed_on || is_terminal();
}

void hand_on_progress() { setenv(progress_variable, "1", 1); }

}  // namespace dlnb
