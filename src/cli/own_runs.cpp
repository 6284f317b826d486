// SPDX-License-Identifier: Apache-2.0
#include "cli/own_runs.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <dlnb/error.hpp>

#include "cli/rank_command.hpp"

extern char** environ;

namespace dlnb {
namespace {

using Json = nlohmann::json;

/// Signals to end, and children's, held back so that they can be taken one by one.
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
  int next() const {
    const timespec limit{0, 100'000'000};
    return sigtimedwait(&held_, nullptr, &limit);
  }

 private:
  sigset_t held_, before_;
};

pid_t start(std::vector<std::string> words, const sigset_t& mask) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_init(&attributes);
  // Of its own, so that a terminal's Ctrl-C reaches us alone and is handed on once.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  const int failure =
      posix_spawn(&child, words.front().c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failure != 0)
    throw Unavailable("run", fmt::format("cannot start {}: {}", words.front(), std::strerror(failure)));
  return child;
}

[[noreturn]] void fail(int status) {
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : int(Exit::lost_rank);
  const char* const what = "a run of this program failed, for the reason above";
  switch (Exit(code)) {
    case Exit::user_error: throw UserError("run", what);
    case Exit::unavailable: throw Unavailable("run", what);
    case Exit::wrong_result: throw WrongResult("run", what);
    default: throw LostRank("run", what);
  }
}

Json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  Json json = Json::parse(stream, nullptr, false);
  if (json.is_discarded()) throw UserError(file.string(), "is no result of this program");
  return json;
}

template <class Enum>
Enum word_of(const std::string& word, int count) {
  for (int i = 0; i < count; ++i)
    if (word == name_of(Enum(i))) return Enum(i);
  throw UserError("result", fmt::format("nothing is called {}", in_quotes(word)));
}

}  // namespace

void run_again(const std::vector<std::vector<std::string>>& commands) {
  const std::string program = rank_command({}, 0).front();
  const HeldSignals signals;
  std::vector<pid_t> running;
  const auto tell = [&](int signal) {
    for (const pid_t child : running) kill(child, signal);
  };
  int first_failure = 0;
  for (const std::vector<std::string>& command : commands) {
    std::vector<std::string> words{program};
    words.insert(words.end(), command.begin(), command.end());
    running.push_back(start(std::move(words), signals.before()));
  }
  while (!running.empty()) {
    if (const int signal = signals.next(); signal > 0 && signal != SIGCHLD) tell(signal);
    std::erase_if(running, [&](pid_t child) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) != child) return false;
      if (status != 0 && first_failure == 0) first_failure = status;
      return true;
    });
    if (first_failure != 0) tell(SIGTERM);
  }
  if (first_failure != 0) fail(first_failure);
}

std::vector<std::string> words_of(const Arguments& given, const std::vector<Argument>& arguments,
                                  const std::vector<std::string>& except) {
  std::vector<std::string> words;
  for (const Argument& argument : arguments) {
    if (!given.has(argument.name) || std::ranges::find(except, argument.name) != except.end()) continue;
    for (const std::string& value : given.all(argument.name)) {
      words.push_back(argument.name);
      if (!argument.is_flag()) words.push_back(value);
    }
  }
  return words;
}

MeasuredRun read_result(const std::filesystem::path& file) {
  const Json json = read_json(file);
  const auto nanoseconds = [](const Json& seconds) { return std::llround(seconds.get<double>() * 1e9); };
  MeasuredRun run;
  run.valid = json.at("valid");
  for (const Json& row : json.at("iterations")) {
    IterationRow& iteration = run.iterations.emplace_back();
    iteration.iteration = row.at("iteration");
    iteration.time = row.at("time");
    iteration.communication_fraction = row.at("communication_fraction");
    iteration.slowest = {nanoseconds(row.at("time")), nanoseconds(row.at("compute")),
                         nanoseconds(row.at("transfer")), nanoseconds(row.at("straggler_wait")),
                         nanoseconds(row.at("pipeline_bubble"))};
  }
  for (const Json& row : json.at("operations")) {
    OperationRow& operation = run.operations.emplace_back();
    operation.role = row.at("role");
    operation.axis = row.at("axis");
    operation.kind = word_of<OperationKind>(row.at("operation"), int(OperationKind::remote_call) + 1);
    operation.phase = word_of<Phase>(row.at("phase"), int(Phase::optimise) + 1);
    operation.bytes_each = row.at("bytes_each");
    operation.time.median = row.at("time").at("median");
  }
  return run;
}

CollTable read_coll_table(const std::filesystem::path& file, const CollSpec& spec) {
  const Json json = read_json(file);
  CollTable table;
  table.spec = spec;
  table.library = json.at("library");
  for (const Json& row : json.at("rows")) {
    CollRow& own = table.rows.emplace_back();
    own.operation = word_of<CollOperation>(row.at("operation"), coll_operations);
    own.ranks = row.at("ranks");
    own.shape.bytes = row.at("bytes");
    own.time = row.at("time");
    own.low = row.at("low");
    own.high = row.at("high");
  }
  return table;
}

}  // namespace dlnb
