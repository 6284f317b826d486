// SPDX-License-Identifier: Apache-2.0
#include "cli/own_runs.hpp"

#include <signal.h>
#include <string.h>  // sigabbrev_np
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <dlnb/error.hpp>

#include "cli/rank_command.hpp"
#include "core/process.hpp"

namespace dlnb {
namespace {

using Json = nlohmann::json;

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

void run_again(const std::vector<std::vector<std::string>>& commands, bool keep_invalid) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds between_requests{2};
  const std::string program = rank_command({}, 0).front();
  const HeldSignals signals;
  std::vector<pid_t> running;
  for (const std::vector<std::string>& command : commands) {
    std::vector<std::string> words{program};
    words.insert(words.end(), command.begin(), command.end());
    running.push_back(start_process(std::move(words), {}, signals.before(), true));
  }
  int first_failure = 0, ended_by = 0;
  Clock::time_point next_request;
  while (!running.empty()) {
    const timespec patience{0, 100'000'000};
    if (const int signal = sigtimedwait(&signals.held(), nullptr, &patience);
        signal > 0 && signal != SIGCHLD && ended_by == 0)
      ended_by = signal;
    std::erase_if(running, [&](pid_t child) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) != child) return false;
      const bool kept = keep_invalid && WIFEXITED(status) && WEXITSTATUS(status) == int(Exit::wrong_result);
      if (status != 0 && !kept && first_failure == 0) first_failure = status;
      return true;
    });
    if ((first_failure == 0 && ended_by == 0) || Clock::now() < next_request) continue;
    for (const pid_t child : running) kill(child, SIGTERM);
    next_request = Clock::now() + between_requests;
  }
  if (ended_by != 0)
    throw LostRank("run",
                   fmt::format("ended by SIG{} before everything was measured", sigabbrev_np(ended_by)),
                   "nothing was written");
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
