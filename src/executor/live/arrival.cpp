// SPDX-License-Identifier: Apache-2.0
#include "executor/live/arrival.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/diagnosis.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/rank_options.hpp"
#include "executor/live/store.hpp"
#include "executor/live/surroundings.hpp"

namespace dlnb {
namespace {

constexpr const char* limit_variable = "DLNETBENCH_START_LIMIT";

std::string key_of(std::int64_t rank) { return fmt::format("arrival-{}", rank); }

bool is_gone(const Arriving& rank) { return rank.life == Life::ended || rank.life == Life::stopped; }

const char* words_of(const Arriving& rank) {
  if (rank.stage == Arrival::absent) return "it has not begun";
  if (rank.life == Life::ended) return "its process has ended: killed or crashed";
  if (rank.life == Life::stopped) return "its process is stopped";
  switch (rank.stage) {
    case Arrival::begun: return "it has begun, and not gone on to join the others";
    case Arrival::joining: return "it is in the library, which has not connected it";
    default: return "it has joined the others";
  }
}

}  // namespace

std::optional<Arriving> arrival_in(const std::string& store, std::int64_t rank) {
  std::optional<std::string> said;
  try {
    said = Store(store).look(key_of(rank));
  } catch (const std::runtime_error&) {
    return std::nullopt;
  }
  if (!said) return std::nullopt;
  std::istringstream text(*said);
  Arriving arriving{.rank = rank};
  int stage = 0;
  std::string space;
  text >> stage >> arriving.process >> arriving.process_start >> std::ws;
  std::getline(text, space);
  arriving.stage = Arrival(stage);
  if (space == process_space()) arriving.life = life_of(arriving.process, arriving.process_start);
  else arriving.process = 0;
  return arriving;
}

std::vector<Arriving> arrivals_in(const std::string& store, std::int64_t ranks) {
  std::vector<Arriving> all;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    all.push_back(arrival_in(store, rank).value_or(Arriving{.rank = rank}));
  return all;
}

std::string missing_text(const std::vector<Arriving>& ranks) {
  constexpr std::size_t most_named = 4;
  const auto absent = [](const Arriving& rank) { return rank.stage == Arrival::absent; };
  if (std::ranges::all_of(ranks, absent)) return "no rank has begun, so what is to start them hangs";
  Arrival lowest = Arrival::left, highest = Arrival::absent;
  for (const Arriving& rank : ranks) {
    lowest = std::min(lowest, rank.stage);
    highest = std::max(highest, rank.stage);
  }
  std::vector<const Arriving*> missing;
  for (const Arriving& rank : ranks)
    if (is_gone(rank)) missing.push_back(&rank);
  // Who is dead or stopped explains those that wait for it, but not those that never came.
  for (const Arriving& rank : ranks)
    if (!is_gone(rank) && rank.stage < highest && (missing.empty() || absent(rank)) && rank.stage == lowest)
      missing.push_back(&rank);
  if (missing.empty())
    return fmt::format("every rank has come as far as that {}, so it hangs in the library or in the network",
                       words_of(ranks[0]));
  std::ranges::sort(missing, {}, &Arriving::rank);
  std::string text;
  for (std::size_t i = 0; i < std::min(missing.size(), most_named); ++i)
    text +=
        fmt::format("{}rank {} is missing ({})", i > 0 ? ", " : "", missing[i]->rank, words_of(*missing[i]));
  if (missing.size() > most_named) {
    std::vector<std::int64_t> more;
    for (std::size_t i = most_named; i < missing.size(); ++i) more.push_back(missing[i]->rank);
    text += fmt::format(" and {} more: {}", more.size(), ranks_text(more));
  }
  return text;
}

std::string ended_text(const std::vector<Arriving>& ranks, const std::vector<std::int64_t>& ended) {
  Arrival lowest = Arrival::left;
  for (const std::int64_t rank : ended) lowest = std::min(lowest, ranks[std::size_t(rank)].stage);
  std::vector<std::int64_t> first;
  for (const std::int64_t rank : ended)
    if (ranks[std::size_t(rank)].stage == lowest) first.push_back(rank);
  return fmt::format("rank{} {} {} missing (killed or crashed before the world of {} had come up)",
                     first.size() > 1 ? "s" : "", ranks_text(first), first.size() > 1 ? "are" : "is",
                     counted(std::ssize(ranks), "rank"));
}

Seconds start_limit(Seconds watchdog) {
  constexpr Seconds least{60};
  if (const char* const text = std::getenv(limit_variable)) {
    double seconds = 0;
    const char* const end = text + std::strlen(text);
    const auto [read_to, failure] = std::from_chars(text, end, seconds);
    if (failure != std::errc() || read_to != end || !(seconds >= 0) || !std::isfinite(seconds))
      throw UserError(limit_variable, fmt::format("{} is no number of seconds", in_quotes(std::string(text))),
                      "for example DLNETBENCH_START_LIMIT=120; 0: no limit");
    return {seconds};
  }
  return watchdog.value > 0 ? std::max(watchdog, least) : Seconds{0};
}

Start::Start(std::int64_t ranks, Seconds watchdog, bool is_watched, const RankOptions& options)
    : ranks_(ranks), rank_(surroundings().rank), store_(store_folder()) {
  if (const Seconds limit = start_limit(watchdog); !is_watched && ranks > 1 && limit.value > 0) {
    watchdog_ = std::make_unique<Watchdog>(limit, [this](int, double waited) { give_up(waited); });
    watchdog_->enter(0, monotonic_clock().now());
  }
  sign(Arrival::begun);
  if (options.fault && options.fault->at_start && options.fault->rank == rank_)
    strike(*options.fault, options);
  sign(Arrival::joining);
}

// Reached in time or by what was thrown; in both cases nobody is to take the end of the process for a loss at the start.
Start::~Start() {
  watchdog_.reset();
  sign(Arrival::left);
}

void Start::joined() { sign(Arrival::joined); }

// A rank that cannot say it joins all the same.
void Start::sign(Arrival stage) const {
  if (store_.empty()) return;
  try {
    Store(store_).set(key_of(rank_), fmt::format("{} {} {} {}", int(stage), getpid(), process_start(getpid()),
                                                 process_space()));
  } catch (const std::runtime_error&) {
  }
}

void Start::give_up(double waited) const {
  // Of those that have come, the lowest speaks; the launcher ends the others.
  const std::vector<Arriving> all = arrivals_in(store_, ranks_);
  const bool known = all[std::size_t(rank_)].stage != Arrival::absent;
  const auto lowest = std::ranges::find_if(
      all, [](const Arriving& rank) { return rank.stage != Arrival::absent && !is_gone(rank); });
  if (known && lowest != all.end() && lowest->rank != rank_) {
    monotonic_clock().sleep(1'000'000'000);
    _exit(int(Exit::lost_rank));
  }
  const std::string line = fmt::format(
      "error: rank {}: the world of {} has not come up in {}: {}\n", rank_, counted(ranks_, "rank"),
      to_text(Seconds{waited}),
      known ? missing_text(all) : "which ranks have not come is not known here; let `run` start them");
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(int(Exit::lost_rank));
  _exit(int(Exit::lost_rank));
}

}  // namespace dlnb
