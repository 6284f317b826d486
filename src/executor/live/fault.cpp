// SPDX-License-Identifier: Apache-2.0
#include "executor/live/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/rank_options.hpp"

namespace dlnb {
namespace {

constexpr const char* variable = "DLNETBENCH_FAULT";
constexpr const char* example = "for example DLNETBENCH_FAULT=\"stop rank=3 operation=12 iteration=1\"";

[[noreturn]] void refuse(const std::string& problem) { throw UserError(variable, problem, example); }

template <class Number>
Number number_in(std::string_view text, std::string_view word) {
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || !(number >= 0) ||
      !std::isfinite(double(number)))
    refuse(fmt::format("{} is not understood", in_quotes(std::string(word))));
  return number;
}

}  // namespace

Fault parse_fault(std::string_view text) {
  Fault fault;
  std::set<std::string_view> given;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (std::exchange(first, false)) {
      if (word == "kill") fault.what = Fault::What::kill;
      else if (word == "stop") fault.what = Fault::What::stop;
      else if (word.starts_with("slow:"))
        fault.what = Fault::What::slow, fault.seconds = number_in<double>(word.substr(5), word);
      else
        refuse(
            fmt::format("begins with kill, stop or slow:SECONDS, not with {}", in_quotes(std::string(word))));
      continue;
    }
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view key = word.substr(0, equals),
                           value = word.substr(std::min(equals + 1, word.size()));
    if (key == "at" && value == "start" && given.insert(key).second) {
      fault.at_start = true;
      continue;
    }
    std::int64_t* const member = key == "rank"        ? &fault.rank
                                 : key == "operation" ? &fault.operation
                                 : key == "iteration" ? &fault.iteration
                                                      : nullptr;
    if (!member || !given.insert(key).second)
      refuse(
          fmt::format("expected rank=, operation= and iteration=, or rank= and at=start, each once, found {}",
                      in_quotes(std::string(word))));
    *member = number_in<std::int64_t>(value, word);
  }
  if (first) refuse("is empty");
  if (!given.contains("rank")) refuse("does not say which rank");
  if (fault.at_start && given.size() > 2) refuse("at=start is before every operation and iteration");
  return fault;
}

std::optional<Fault> fault_asked(std::int64_t ranks, bool ranks_are_threads) {
  const char* const text = std::getenv(variable);
  if (!text) return std::nullopt;
  const Fault fault = parse_fault(text);
  if (fault.rank >= ranks)
    refuse(fmt::format("there is no rank {}, the run has {}", fault.rank, counted(ranks, "rank")));
  if (ranks_are_threads && fault.what == Fault::What::kill)
    refuse("ranks of this backend are threads of one process: none can be killed alone");
  if (ranks_are_threads && fault.at_start)
    refuse("ranks of this backend are threads of one process: none begins later than the others");
  return fault;
}

std::optional<Fault> fault_asked(const Schedule& schedule, bool ranks_are_threads) {
  const std::optional<Fault> fault = fault_asked(schedule.grid.ranks(), ranks_are_threads);
  if (fault && !fault->at_start)
    check_operation(*fault, std::int64_t(schedule.program_of(fault->rank).operations.size()));
  return fault;
}

void check_operation(const Fault& fault, std::int64_t operations) {
  if (fault.operation >= operations)
    refuse(fmt::format("rank {} has no operation {}, only {}", fault.rank, fault.operation,
                       counted(operations, "operation")));
}

void check_iteration(const Fault& fault, std::int64_t iterations) {
  if (fault.iteration >= iterations)
    refuse(fmt::format("there is no iteration {}, only {}", fault.iteration,
                       counted(iterations, "timed iteration")));
}

Action plant(Binding& binding, const Fault& fault) {
  Action& place = binding.actions[std::size_t(fault.operation)];
  Action before = place;
  place.what = Action::What::fault;
  return before;
}

void strike(const Fault& fault, const RankOptions& options) {
  if (fault.what == Fault::What::kill) raise(SIGKILL);
  if (fault.what == Fault::What::stop && !options.ranks_are_threads) {
    raise(SIGSTOP);
    return;
  }
  constexpr std::int64_t nap = 10'000'000;
  const std::int64_t until = monotonic_clock().now() + std::llround(fault.seconds * 1e9);
  while (fault.what == Fault::What::stop || monotonic_clock().now() < until) {
    if (options.over && options.over->load()) throw LostRank(variable, "the world has ended");
    monotonic_clock().sleep(fault.what == Fault::What::stop ? nap
                                                            : std::min(nap, until - monotonic_clock().now()));
  }
}

}  // namespace dlnb
