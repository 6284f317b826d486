// SPDX-License-Identifier: Apache-2.0
#include "executor/live/sentry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <exception>
#include <filesystem>
#include <utility>

#include "executor/live/compute.hpp"
#include "executor/live/run_folder.hpp"
#include "executor/live/salvage.hpp"
#include "executor/live/stop.hpp"

namespace dlnb {
namespace {

constexpr std::size_t mebi = 1024 * 1024;
/// Of a run without end, whose latest iterations must be analysed and written in a moment.
constexpr std::size_t most_bytes_forever = 4 * mebi;
constexpr std::size_t most_bytes = 32 * mebi, most_bytes_of_host = 256 * mebi;

constexpr double longest_grace = 1, shortest_grace = 0.05;  // seconds
constexpr double patience_with_reporter = 2.5;
constexpr double patience_with_word = 0.5;

double seconds_now() { return double(monotonic_clock().now()) * 1e-9; }
void nap() { monotonic_clock().sleep(10'000'000); }

std::int64_t iterations_kept(const Sentry::Job& job) {
  return job.iterations > 0 ? job.iterations : std::int64_t{1} << 40;
}

std::size_t bytes_kept(const Sentry::Job& job) {
  const std::size_t share = most_bytes_of_host / std::size_t(std::max<std::int64_t>(1, job.ranks_per_host));
  return std::min(job.iterations > 0 ? most_bytes : most_bytes_forever, share);
}

}  // namespace

Sentry::Sentry(Job job, Transport& transport, std::size_t operations)
    : job_(std::move(job)), transport_(transport) {
  folder_ = reports_itself() ? recorder_folder(job_.recorder, job_.run) : job_.options.folder;
  const auto make = [&](const std::filesystem::path& folder) {
    return std::make_unique<Recorder>(folder, job_.run, transport_.rank(), transport_.library(), operations,
                                      iterations_kept(job_), bytes_kept(job_));
  };
  try {
    recorder_ = make(folder_);
  } catch (const Unavailable& error) {
    hidden_ = error.what();
    recorder_ = make({});
  }
  if (folder_.empty()) hidden_ = "neither /dev/shm nor the folder for temporary files can be written to";
  if (!job_.options.ranks_are_threads) StopSignals::mirror(&recorder_->head().signal);
  const bool looks_often = job_.forever || reports_itself() || ends_threads();
  watchdog_ = std::make_unique<Watchdog>(
      recorder_->head().place, job_.watchdog, [this](int, double waited) { lost(waited); },
      Seconds{looks_often ? 0.1 : 1.0}, [this] { return look(); });
}

Sentry::~Sentry() {
  watchdog_.reset();
  if (!job_.options.ranks_are_threads) StopSignals::mirror(nullptr);
  if (reports_itself() && !lost_) recorder_->remove(job_.recorder.empty());
}

void Sentry::give_up() {
  lost_ = true;
  recorder_->head().distress.store(monotonic_clock().now());
}

std::vector<Record> Sentry::records() const { return read_records(folder_, job_.inquiry.ranks, job_.run); }

template <class Candidate>
bool Sentry::is_to_report(double grace, Candidate candidate) {
  for (const double until = seconds_now() + grace; seconds_now() < until && !over();) nap();
  for (const double until = seconds_now() + patience_with_reporter; seconds_now() < until; nap()) {
    if (over()) return false;
    const std::vector<Record> all = records();
    if (std::ranges::any_of(all, [](const Record& record) { return record.head().reported.load() != 0; }))
      return false;
    const std::vector<RankState> states = states_of(all, job_.inquiry.ranks);
    const auto lowest = std::ranges::find_if(states, [&](const RankState& state) {
      return state.known && state.life != Life::ended && state.life != Life::stopped && candidate(state);
    });
    if (lowest == states.end() || lowest->rank == transport_.rank()) return true;
  }
  return true;
}

void Sentry::lost(double waited) {
  lost_ = true;
  recorder_->head().waited.store(std::llround(waited * 1e9));
  recorder_->head().distress.store(monotonic_clock().now());
  const double grace = std::clamp(job_.watchdog.value / 2, shortest_grace, longest_grace);
  if (is_to_report(grace, [](const RankState& state) { return state.distressed; })) {
    std::vector<RankState> states = states_of(records(), job_.inquiry.ranks);
    states[std::size_t(transport_.rank())].distressed = true;  // also where nobody can look
    report(job_.inquiry.diagnose(folder_, states, {}));
  } else {
    let_reporter_end();
  }
  end_world(int(Exit::lost_rank), {});
}

/// Who reports keeps what was measured and ends the world with a word: that the others end it silently must not come first.
void Sentry::let_reporter_end() {
  for (const double until = seconds_now() + patience_with_word; seconds_now() < until && !over();) nap();
}

void Sentry::report(const Diagnosis& diagnosis) {
  if (!reports_itself()) {
    leave_diagnosis(folder_, diagnosis);
    // Whoever started the run says it; ranks that are threads are told by what they throw.
    if (job_.options.ranks_are_threads) end_world(int(Exit::lost_rank), diagnosis.text);
    recorder_->head().reported.store(1);
    return;
  }
  const std::vector<Record> all = records();
  const bool has_first = !all.empty() && all.front().head().rank == 0;  // else another host's rank writes
  std::string text = diagnosis.text;
  if (has_first && job_.inquiry.keep) try {
      job_.inquiry.keep(folder_, all, diagnosis);
    } catch (const std::exception& error) {
      text += fmt::format("; what was measured before could not be written: {}", error.what());
    }
  recorder_->head().reported.store(1);
  // The others have their records mapped and see the mark.
  if (job_.recorder.empty() && !folder_.empty()) {
    nap(), nap(), nap();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  end_world(int(Exit::lost_rank), text);
}

void Sentry::end_world(int code, const std::string& why) {
  if (job_.options.over) job_.options.over->store(true);
  transport_.abort(code, why);
}

bool Sentry::look() {
  const int signal = StopSignals::first();
  if (signal == 0) return false;
  if (signal_seen_ == 0) signal_seen_ = monotonic_clock().now();
  if (ends_threads() && StopSignals::second() != 0) return leave_at_once(), true;
  if (reports_itself() && signal == SIGTERM) report_first_to_end();
  const bool still_measuring = recorder_->head().stage.load() <= int(Stage::measuring);
  const double waited = double(monotonic_clock().now() - signal_seen_) * 1e-9;
  if (!job_.forever || !still_measuring || waited < patience_after_signal) return false;
  // A process that started the ranks does this itself.
  if (!reports_itself() && !job_.options.ranks_are_threads) return true;
  leave_in_the_middle();
  return true;
}

// Launchers end all ranks when one of them has ended. What they send first leaves a moment; who had been sent it is not the
// first to end, unless all had.
void Sentry::report_first_to_end() {
  std::vector<std::int64_t> ranks, told;
  for (const RankState& state : states_of(records(), job_.inquiry.ranks))
    if (state.known && state.life == Life::ended) (state.signal == 0 ? ranks : told).push_back(state.rank);
  if (ranks.empty()) ranks = std::move(told);
  if (ranks.empty()) return;
  lost_ = true;
  recorder_->head().distress.store(monotonic_clock().now());
  if (is_to_report(shortest_grace, [](const RankState&) { return true; }))
    report(job_.inquiry.diagnose(folder_, states_of(records(), job_.inquiry.ranks), ranks));
  else let_reporter_end();
  end_world(int(Exit::lost_rank), {});
}

void Sentry::leave_at_once() {
  give_up();
  report({.text = std::string(ended_at_once)});
}

void Sentry::leave_in_the_middle() {
  lost_ = true;
  if (job_.options.ranks_are_threads) return end_world(int(Exit::success), "left after a signal");
  if (is_to_report(0, [](const RankState&) { return true; })) {
    const std::vector<Record> all = records();
    if (job_.inquiry.keep_after_signal && !all.empty() && all.front().head().rank == 0) try {
        job_.inquiry.keep_after_signal(all, StopSignals::first());
      } catch (const std::exception& error) {
        end_world(int(Exit::unavailable), error.what());
      }
    recorder_->head().reported.store(1);
  }
  end_world(int(Exit::success), {});
}

}  // namespace dlnb
