// SPDX-License-Identifier: Apache-2.0
// Exceptions become exit codes here, and nowhere else.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include <dlnb/error.hpp>

#include "cli/application.hpp"
#include "cli/output.hpp"
#include "core/progress.hpp"
#include "executor/live/live.hpp"

namespace {

// Errors may come before --no-color has been read; so it is looked for as a word.
bool colour(int argc, char** argv) {
  bool unwanted = false;
  for (int i = 1; i < argc; ++i) unwanted = unwanted || std::strcmp(argv[i], "--no-color") == 0;
  return dlnb::colour_wanted(unwanted);
}

void say(bool coloured, const std::string& problem, const std::string& hint) {
  dlnb::progress::clear();
  std::string text = coloured ? "\033[1;31merror:\033[0m " : "error: ";
  text += problem + "\n";
  if (!hint.empty()) text += "  " + hint + "\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
  dlnb::guard_standard_streams();
  try {
    return dlnb::run_command_line(argc, argv);
  } catch (const dlnb::Error& error) {
    // The ranks of a world agree on errors; one says it.
    if (dlnb::is_first_rank()) say(colour(argc, argv), error.what(), error.hint());
    dlnb::let_first_rank_speak();
    return int(error.exit());
  } catch (const std::bad_alloc&) {
    say(colour(argc, argv), "memory: there is not enough for this request",
        "fewer ranks, fewer iterations or a smaller --message-scale need less");
    return int(dlnb::Exit::unavailable);
  } catch (const std::exception& error) {
    say(colour(argc, argv), std::string("this is a mistake in dlnetbench: ") + dlnb::printable(error.what()),
        "please report it with the command line that led here");
    std::abort();
  }
}
