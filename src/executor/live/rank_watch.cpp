// SPDX-License-Identifier: Apache-2.0
#include "executor/live/rank_watch.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "executor/live/arrival.hpp"
#include "executor/live/process.hpp"
#include "executor/live/recorder.hpp"

namespace dlnb {
namespace {

constexpr int period = 100;  // ms

int open_process(pid_t process) { return int(syscall(SYS_pidfd_open, process, 0)); }

bool left(const RecorderHead& head) { return head.stage.load() == int(Stage::left); }

bool gave_up(const RecorderHead& head) { return head.distress.load() != 0; }
bool was_asked(const RecorderHead& head) { return head.signal.load() != 0; }

}  // namespace

RankWatch::RankWatch(std::filesystem::path folder, std::string store, std::int64_t ranks)
    : folder_(std::move(folder)), store_(std::move(store)), ranks_(ranks) {}

RankWatch::~RankWatch() {
  for (const Rank& rank : known_)
    if (rank.descriptor >= 0) close(rank.descriptor);
  if (signals_ >= 0) close(signals_);
}

int RankWatch::wait(const sigset_t& signals) {
  if (signals_ < 0) signals_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  std::vector<pollfd> looked_at{{signals_, POLLIN, 0}};
  for (const Rank& rank : known_)
    if (rank.descriptor >= 0) looked_at.push_back({rank.descriptor, POLLIN, 0});
  poll(looked_at.data(), looked_at.size(), period);
  look();
  signalfd_siginfo taken{};
  return signals_ >= 0 && read(signals_, &taken, sizeof taken) == ssize_t(sizeof taken) ? int(taken.ssi_signo)
                                                                                        : 0;
}

void RankWatch::look() {
  find_ended();
  find_ranks();
}

void RankWatch::find_ended() {
  std::vector<pollfd> ended;
  for (const Rank& rank : known_)
    if (rank.descriptor >= 0) ended.push_back({rank.descriptor, POLLIN, 0});
  if (ended.empty() || poll(ended.data(), ended.size(), 0) <= 0) return;
  std::vector<std::int64_t> lost, unasked;
  for (Rank& rank : known_) {
    const auto found = std::ranges::find(ended, rank.descriptor, &pollfd::fd);
    if (rank.descriptor < 0 || found == ended.end() || found->revents == 0) continue;
    close(rank.descriptor);
    rank.descriptor = -1;
    if (left_as_it_should(rank)) continue;
    lost.push_back(rank.rank);
    const auto record = read_record(folder_, rank.rank, 0);
    if (!record || !was_asked(record->head())) unasked.push_back(rank.rank);
  }
  note(lost, unasked);
}

void RankWatch::note(const std::vector<std::int64_t>& lost, const std::vector<std::int64_t>& unasked) {
  constexpr std::chrono::milliseconds moment{500};
  const auto now = std::chrono::steady_clock::now();
  if (first_.empty()) first_ = unasked.empty() ? lost : unasked, first_at_ = now;
  if (now - first_at_ < moment) then_.insert(then_.end(), unasked.begin(), unasked.end());
}

bool RankWatch::left_as_it_should(const Rank& rank) const {
  if (const auto record = read_record(folder_, rank.rank, 0))
    return left(record->head()) || gave_up(record->head());
  const auto arriving = arrival_in(store_, rank.rank);
  return !arriving || arriving->stage == Arrival::left;
}

void RankWatch::find_ranks() {
  const std::string here = process_space();
  for (std::int64_t number = 0; number < ranks_; ++number) {
    const auto known = std::ranges::find(known_, number, &Rank::rank);
    if (known != known_.end() && known->recorded) continue;
    Rank rank{.rank = number};
    if (const auto record = read_record(folder_, number, 0)) {
      rank.recorded = true;
      if (known != known_.end() && known->process > 0) {
        known->recorded = true;
        continue;
      }
      rank.process = record->head().space.data() == here ? pid_t(record->head().process) : 0;
      rank.start = record->head().process_start;
    } else if (const auto arriving = arrival_in(store_, number); arriving && known == known_.end()) {
      rank.process = arriving->process;
      rank.start = arriving->process_start;
    } else {
      continue;
    }
    if (rank.process > 0) rank.descriptor = open_process(rank.process);
    if (rank.process > 0 && rank.descriptor < 0 && !left_as_it_should(rank)) note({number}, {number});
    if (known == known_.end()) known_.push_back(rank);
    else *known = rank;
  }
}

bool RankWatch::has_begun() const { return std::ranges::any_of(known_, &Rank::recorded); }

bool RankWatch::collecting() const {
  return std::ranges::any_of(read_records(folder_, ranks_, 0), [](const Record& record) {
    return record.head().stage.load() >= int(Stage::collecting);
  });
}

void RankWatch::end_leftovers() const {
  const auto there = [](const Rank& rank) {
    return rank.process > 0 && life_of(rank.process, rank.start) != Life::ended;
  };
  for (const Rank& rank : known_)
    if (there(rank)) kill(rank.process, SIGKILL);
  for (int looks = 0; looks < 100 && std::ranges::any_of(known_, there); ++looks) {
    constexpr timespec nap{0, 10'000'000};
    nanosleep(&nap, nullptr);
  }
}

}  // namespace dlnb
