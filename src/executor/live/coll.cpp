// SPDX-License-Identifier: Apache-2.0
// The collective benchmark, live: every rank's way through the rows of the table.
#include "executor/live/coll.hpp"

#include <fmt/format.h>
#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include <dlnb/error.hpp>

#include "core/log.hpp"
#include "core/progress.hpp"
#include "executor/live/backend.hpp"
#include "executor/live/coll_case.hpp"
#include "executor/live/coll_data.hpp"
#include "executor/live/coll_timing.hpp"
#include "executor/live/control.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/hosts.hpp"
#include "executor/live/live.hpp"
#include "executor/live/stop.hpp"

namespace dlnb {
namespace {

/// One rank's outcome of one row. Plain bytes: it travels.
struct RankOutcome {
  CollTimes times;
  std::int64_t wrong = 0;
};

/// What rank 0 says after a row.
struct Verdict {
  bool wrong = false;  ///< somewhere for the first time: everybody says what it saw
  bool stop = false;
};

class CollMemoryBlock {
 public:
  CollMemoryBlock(Transport& transport, std::int64_t bytes)
      : transport_(transport), memory_(transport.allocate(bytes)) {}
  ~CollMemoryBlock() { transport_.release(memory_); }
  CollMemoryBlock(const CollMemoryBlock&) = delete;
  CollMemoryBlock& operator=(const CollMemoryBlock&) = delete;
  std::byte* get() const { return memory_; }

 private:
  Transport& transport_;
  std::byte* const memory_;
};

class CollSession {
 public:
  CollSession(const CollSpec& spec, Transport& transport, Clock& clock)
      : spec_(spec),
        transport_(transport),
        clock_(clock),
        mode_(progress_mode(spec.progress)),
        control_(transport),
        watchdog_(spec.watchdog, [this](int place, double seconds) { lost(place, seconds); }) {}

  std::optional<CollTable> run() {
    if (transport_.size() != spec_.ranks)
      throw UserError("--ranks",
                      fmt::format("the world has {} ranks, not {}", transport_.size(), spec_.ranks),
                      fmt::format("start {} processes", spec_.ranks));
    const std::vector<int> group = group_of(spec_, transport_.rank(), place_);
    rows_ = coll_cases(spec_, place_.members, transport_, table_.notes);
    if (control_.first())
      for (const std::string& note : table_.notes) log::info(note);
    settle_terms();
    if (cores_shared_) transport_.share_cores();
    enter(setting_up);
    place_.communicator = transport_.communicator(group);
    connect();
    watchdog_.leave();
    send_ = std::make_unique<CollMemoryBlock>(transport_, memory_.send);
    receive_ = std::make_unique<CollMemoryBlock>(transport_, memory_.receive);
    transport_.reserve(slots);
    if (spec_.overlap) outstanding_ = make_outstanding(mode_, transport_, clock_, slots);
    try {
      measure_rows();
    } catch (const std::exception& error) {
      // Nobody may move data into memory that is about to go.
      transport_.abort(int(Exit::lost_rank),
                       fmt::format("rank {} failed: {}", transport_.rank(), error.what()));
      if (outstanding_) outstanding_->drain();
      throw;
    }
    if (!control_.first()) return std::nullopt;
    finish();
    return std::move(table_);
  }

 private:
  static constexpr int slots = 2;
  static constexpr const char* other_places[] = {"setting up communicators", "starting together",
                                                 "collecting times"};
  enum Place : int { setting_up, starting, collecting };

  void enter(Place place) { watchdog_.enter(int(rows_.size()) + place, monotonic_clock().now()); }
  void enter_row(std::size_t row) { watchdog_.enter(int(row), monotonic_clock().now()); }

  // In the watchdog's thread.
  void lost(int place, double seconds) {
    const auto at = std::size_t(place);
    const std::string where =
        at < rows_.size() ? fmt::format("{} (row {}, group {})", describe(rows_[at]), at, place_.group)
                          : std::string(other_places[at - rows_.size()]);
    transport_.abort(int(Exit::lost_rank),
                     fmt::format("rank {} has waited {:.1f} s in {}", transport_.rank(), seconds, where));
  }

  // Everybody tells rank 0 what it has and needs; rank 0 decides for all.
  void settle_terms() {
    for (const CollCase& row : rows_) memory_.grow_to(memory_of(row, spec_, place_));
    HostFacts facts = facts_of_this_host();
    facts.buffers = memory_.send + memory_.receive;
    facts.library = memory_.reduced;
    facts.threads = wants_second_thread(spec_) ? 2 : 1;
    std::string shortage;
    if (const std::int64_t device = transport_.device_memory(); device >= 0) {
      if (facts.buffers > device)
        shortage = fmt::format("rank {} needs {} for buffers; its device has {}", transport_.rank(),
                               to_text(Bytes{facts.buffers}), to_text(Bytes{device}));
      facts.buffers = facts.library = 0;
    }
    const std::vector<HostFacts> all = control_.gather_values(facts);
    const std::vector<std::string> shortages = control_.gather(shortage);
    shortage = agree(control_, [&] {
      const std::vector<HostUse> hosts = hosts_of(all);
      for (const HostUse& host : hosts) {
        if (host.cores_shared() && !cores_shared_)
          table_.notes.push_back(fmt::format(
              "{} threads share {} cores: a waiting rank offers its core to the others, and waiting for "
              "a core is part of the times",
              host.threads, host.cores));
        cores_shared_ = cores_shared_ || host.cores_shared();
      }
      for (const std::string& text : shortages)
        if (!text.empty()) return text;
      return memory_shortage(hosts);
    });
    if (!shortage.empty()) throw UserError("coll", shortage, "use fewer ranks or a smaller --max-size");
    cores_shared_ = control_.broadcast_value(cores_shared_);
  }

  // The messages of all rows go to the same members.
  void connect() {
    const auto row = std::ranges::find(rows_, CollOperation::send_recv, &CollCase::operation);
    if (row == rows_.end()) return;
    const CollMoves moves = moves_of(*row, spec_, place_, transport_, nullptr, nullptr);
    std::vector<int> destinations, sources;
    for (const Transfer* transfer :
         {&moves.first, &moves.second, moves.closing ? &*moves.closing : nullptr}) {
      if (!transfer) continue;
      if (transfer->kind == OperationKind::send) destinations.push_back(transfer->peer);
      if (transfer->kind == OperationKind::recv) sources.push_back(transfer->peer);
    }
    transport_.connect(place_.communicator, destinations, sources);
  }

  void measure_rows() {
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      measure_row(row);
      if (!report_row(row)) return;
    }
  }

  void measure_row(std::size_t index) {
    const CollCase& row = rows_[index];
    const CollMoves moves = moves_of(row, spec_, place_, transport_, send_->get(), receive_->get());
    const Transfer in_step{.kind = OperationKind::barrier, .communicator = place_.communicator};
    CollTimer timer(spec_, transport_, clock_, watchdog_, in_step, outstanding_.get());
    series_.assign(spec_.series ? std::size_t(spec_.iterations) : 0, 0);
    outcome_ = {};
    seen_.clear();

    verify(timer, moves, index, 0);
    together();
    enter_row(index);
    timer.warm_up(moves);
    watchdog_.leave();
    together();
    enter_row(index);
    outcome_.times = timer.measure(moves, series_);
    watchdog_.leave();
    if (spec_.overlap && overlap_can_be_told()) {
      together();
      enter_row(index);
      timer.overlap(moves, *emulator(), outcome_.times);
      watchdog_.leave();
    }
    together();
    verify(timer, moves, index, 1);
  }

  void together() {
    enter(starting);
    control_.barrier();
    watchdog_.leave();
  }

  void verify(CollTimer& timer, const CollMoves& moves, std::size_t index, std::uint64_t time) {
    if (!spec_.verify) return;
    const CollData data(rows_[index], moves, place_, 2 * index + time);
    data.write(transport_);
    enter_row(index);
    timer.once(moves);
    watchdog_.leave();
    const CollData::Outcome outcome = data.compare(transport_);
    data.clear(transport_);
    outcome_.wrong += outcome.wrong;
    if (seen_.empty() && outcome.wrong > 0)
      seen_ = fmt::format("rank {}, {}, {} timing: {}; {} wrong in all", transport_.rank(),
                          describe(rows_[index]), time == 0 ? "before" : "after", outcome.first,
                          counted(outcome.wrong, "element"));
  }

  // The emulator of shared cores pays short phases in lumps: what is hidden of one operation cannot be told then.
  bool overlap_can_be_told() {
    if (!cores_shared_) return true;
    double longest = 0;
    for (const double mean : control_.gather_values(outcome_.times.mean)) longest = std::max(longest, mean);
    const bool can = control_.broadcast_value(longest) >= double(SharedCompute::lump);
    if (!can && !told_of_lumps_ && control_.first()) {
      told_of_lumps_ = true;
      table_.notes.push_back(
          fmt::format("where ranks share cores, compute shorter than {} cannot be emulated: no overlap is "
                      "given for such rows",
                      to_text(Seconds{double(SharedCompute::lump) * 1e-9})));
    }
    return can;
  }

  std::unique_ptr<Compute> emulator() {
    if (cores_shared_) return std::make_unique<SharedCompute>(clock_, outstanding_.get());
    return std::make_unique<ExactCompute>(clock_, outstanding_.get());
  }

  // Whether there is to be another row.
  bool report_row(std::size_t index) {
    enter(collecting);
    const std::vector<RankOutcome> all = control_.gather_values(outcome_);
    std::vector<std::vector<std::byte>> series;
    if (spec_.series) series = control_.gather(std::as_bytes(std::span(series_)));
    Verdict verdict;
    if (control_.first()) {
      table_.rows.push_back(row_of(rows_[index], all));
      for (const auto& of_rank : series) add_series(table_.rows.back().series, of_rank);
      verdict.wrong = table_.wrong.empty() && table_.rows.back().wrong.value_or(0) > 0;
      verdict.stop = StopSignals::first() != 0;
      progress::report("measured rows", std::int64_t(index) + 1, std::int64_t(rows_.size()));
    }
    verdict = control_.broadcast_value(verdict);
    if (verdict.wrong)
      for (const std::string& seen : control_.gather(seen_))
        if (table_.wrong.empty()) table_.wrong = seen;
    watchdog_.leave();
    return !verdict.stop;
  }

  CollRow row_of(const CollCase& from, const std::vector<RankOutcome>& ranks) const {
    CollRow row{.operation = from.operation,
                .ranks = place_.members,
                .dtype = from.dtype,
                .in_place = from.in_place,
                .shape = from.shape,
                .iterations = spec_.iterations};
    double sum = 0, least = ranks.front().times.mean, largest = 0, compute = 0, overall = 0;
    std::int64_t wrong = 0;
    for (const RankOutcome& rank : ranks) {
      sum += rank.times.mean;
      least = std::min(least, rank.times.mean);
      largest = std::max(largest, rank.times.mean);
      compute += rank.times.compute;
      overall += rank.times.overall;
      wrong += rank.wrong;
    }
    const double seconds = 1e-9, each = seconds / double(ranks.size());
    row.time = sum * each;
    row.low = least * seconds;
    row.high = largest * seconds;
    if (spec_.verify) row.wrong = wrong;
    if (overall > 0) {
      const double hidden = sum > 0 ? 1 - (overall - compute) / sum : 0;
      row.overlap = CollOverlap{sum * each, compute * each, overall * each, std::max(0.0, hidden)};
    }
    set_bandwidths(row);
    return row;
  }

  // The slowest rank of every iteration.
  static void add_series(std::vector<double>& slowest, const std::vector<std::byte>& bytes) {
    const std::size_t iterations = bytes.size() / sizeof(std::int64_t);
    slowest.resize(iterations);
    for (std::size_t i = 0; i < iterations; ++i) {
      std::int64_t time = 0;
      std::memcpy(&time, bytes.data() + i * sizeof time, sizeof time);
      slowest[i] = std::max(slowest[i], double(time) * 1e-9);
    }
  }

  void finish() {
    table_.spec = spec_;
    table_.executor = spec_.backend;
    table_.library = transport_.library();
    if (spec_.overlap) table_.notes.push_back(fmt::format("progress while computing: {}", name_of(mode_)));
    if (table_.rows.size() < rows_.size()) {
      const int told = signal_told();
      table_.notes.push_back(fmt::format("ended early by SIG{} after {} of {} rows",
                                         sigabbrev_np(told != 0 ? told : StopSignals::first()),
                                         table_.rows.size(), rows_.size()));
    }
  }

  const CollSpec& spec_;
  Transport& transport_;
  Clock& clock_;
  const ProgressMode mode_;
  const Control control_;
  CollPlace place_;
  std::vector<CollCase> rows_;
  CollMemory memory_;
  std::unique_ptr<CollMemoryBlock> send_, receive_;
  std::unique_ptr<Outstanding> outstanding_;
  bool cores_shared_ = false;
  bool told_of_lumps_ = false;
  RankOutcome outcome_;
  std::string seen_;
  std::vector<std::int64_t> series_;
  CollTable table_;
  Watchdog watchdog_;  // last: its thread looks at the rest
};

}  // namespace

bool wants_second_thread(const CollSpec& spec) {
  return spec.overlap && progress_mode(spec.progress) == ProgressMode::thread;
}

std::optional<CollTable> run_coll_session(const CollSpec& spec, Transport& transport, Clock& clock) {
  return CollSession(spec, transport, clock).run();
}

std::optional<CollTable> run_coll(const CollSpec& spec) {
  const Backend& backend = usable_backend(spec.backend);
  const WorldOptions options{spec.ranks, wants_second_thread(spec)};
  if (inside_a_world() && is_first_rank()) report_as_first_rank();
  const StopSignals signals;
  std::mutex mutex;  // ranks may be threads
  std::optional<CollTable> table;
  backend.open(options, [&](Transport& transport) {
    std::optional<CollTable> own = run_coll_session(spec, transport, monotonic_clock());
    const std::lock_guard lock(mutex);
    if (own) table = std::move(own);
  });
  return table;
}

int launch(const CollSpec& spec, const std::vector<std::string>& command) {
  RunSpec world;  // what of a run says how ranks are started
  world.backend = spec.backend;
  world.ranks = spec.ranks;
  world.hosts = spec.hosts;
  world.agent = spec.agent;
  world.testbed = spec.testbed;
  world.progress = wants_second_thread(spec) ? spec.progress : "none";
  return launch(world, command);
}

}  // namespace dlnb
