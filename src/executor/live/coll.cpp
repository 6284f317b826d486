// SPDX-License-Identifier: Apache-2.0
// The collective benchmark, live: every rank's way through the rows of the table.
#include "executor/live/coll.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <utility>

#include <dlnb/error.hpp>

#include "core/log.hpp"
#include "core/progress.hpp"
#include "executor/live/arrival.hpp"
#include "executor/live/backend.hpp"
#include "executor/live/coll_case.hpp"
#include "executor/live/coll_data.hpp"
#include "executor/live/coll_log.hpp"
#include "executor/live/coll_salvage.hpp"
#include "executor/live/coll_timing.hpp"
#include "executor/live/control.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/hosts.hpp"
#include "executor/live/recorder.hpp"
#include "executor/live/run_folder.hpp"
#include "executor/live/salvage.hpp"
#include "executor/live/sentry.hpp"
#include "executor/live/stop.hpp"
#include "executor/live/thread_room.hpp"

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
  CollSession(const CollSpec& spec, Transport& transport, Clock& clock, const CollSessionOptions& options)
      : spec_(spec),
        options_(options),
        transport_(transport),
        clock_(clock),
        mode_(progress_mode(spec.progress)),
        control_(transport) {}

  std::optional<CollTable> run() {
    if (transport_.size() != spec_.ranks)
      throw UserError("--ranks",
                      fmt::format("the world has {} ranks, not {}", transport_.size(), spec_.ranks),
                      fmt::format("start {} processes", spec_.ranks));
    const std::vector<int> group = group_of(spec_, transport_.rank(), place_);
    rows_ = coll_cases(spec_, place_.members, transport_, table_.notes);
    if (options_.fault && !options_.fault->at_start) check_fault(*options_.fault);
    if (control_.first())
      for (const std::string& note : table_.notes) log::info(note);
    set_sentry(settle_terms());
    return sentry_->guard([&] { return measured(group); });
  }

 private:
  static constexpr int slots = 2;

  std::optional<CollTable> measured(const std::vector<int>& group) {
    if (cores_shared_) transport_.share_cores();
    enter(setting_up);
    place_.communicator = transport_.communicator(group);
    connect();
    leave();
    send_ = std::make_unique<CollMemoryBlock>(transport_, memory_.send);
    receive_ = std::make_unique<CollMemoryBlock>(transport_, memory_.receive);
    transport_.reserve(slots);
    if (spec_.overlap) outstanding_ = make_outstanding(mode_, transport_, clock_, slots);
    sentry_->recorder().enter(Stage::measuring);
    try {
      measure_rows();
    } catch (const std::exception& error) {
      // Nobody may move data into memory that is about to go.
      sentry_->give_up();
      transport_.abort(int(Exit::lost_rank),
                       fmt::format("rank {} failed: {}", transport_.rank(), error.what()));
      if (outstanding_) outstanding_->drain();
      throw;
    }
    sentry_->recorder().enter(Stage::collecting);
    if (!control_.first()) return std::nullopt;
    if (options_.folder.empty()) log_->remove();
    finish();
    return std::move(table_);
  }

  /// What all ranks know before a flight recorder can be made.
  struct Terms {
    std::uint64_t run = 0;            ///< a number that tells these ranks from others
    std::int64_t ranks_per_host = 1;  ///< at most
    bool cores_shared = false;
  };

  void check_fault(const Fault& fault) const {
    check_operation(fault, std::int64_t(rows_.size()));
    check_iteration(fault, spec_.iterations);
  }

  void set_sentry(const Terms& terms) {
    cores_shared_ = terms.cores_shared;
    if (control_.first() && options_.folder.empty()) sweep_left_folders();
    sentry_ = std::make_unique<Sentry>(Sentry::Job{.inquiry = inquiry_of(spec_, options_.on_partial),
                                                   .options = options_,
                                                   .recorder = spec_.recorder,
                                                   .watchdog = spec_.watchdog,
                                                   .run = terms.run,
                                                   .ranks_per_host = terms.ranks_per_host,
                                                   .iterations = 1},
                                       transport_, 0);
    at_ = &sentry_->recorder().head().place;
    if (options_.start) options_.start->over();
    if (!control_.first()) return;
    if (!sentry_->hidden().empty())
      table_.notes.push_back(fmt::format("no flight recorder that others can read: {}", sentry_->hidden()));
    if (options_.fault) table_.notes.emplace_back("with a fault on purpose (DLNETBENCH_FAULT)");
    for (const std::string& remark : transport_.remarks()) table_.notes.push_back(remark);
    log_.emplace(sentry_->folder(), transport_.library(), rows_);
    for (const std::string& note : table_.notes) log_->add_note(note);
  }

  void enter(Beyond place) { at_->enter(int(rows_.size()) + place, monotonic_clock().now()); }
  void enter_row(std::size_t row) { at_->enter(int(row), monotonic_clock().now()); }
  void leave() {
    if (const int at = at_->at.load(std::memory_order_relaxed); at >= 0) at_->leave(at);
  }

  void begin(std::size_t row, CollPhase phase) {
    at_->beats.store(0, std::memory_order_relaxed);
    sentry_->recorder().begin_iteration(std::int64_t(row) * coll_phases + int(phase));
  }

  /// Nothing where it is another rank's, or another row's.
  std::optional<CollIncident> incident_in(std::size_t row) {
    if (!options_.fault || options_.fault->at_start || options_.fault->rank != transport_.rank() ||
        options_.fault->operation != std::int64_t(row))
      return std::nullopt;
    return CollIncident{int(options_.fault->iteration), [this, row] {
                          leave();
                          strike(*options_.fault, options_);
                          enter_row(row);
                        }};
  }

  // Everybody tells rank 0 what it has and needs; rank 0 decides for all.
  Terms settle_terms() {
    Terms terms;
    for (const CollCase& row : rows_) memory_.grow_to(memory_of(row, spec_, place_));
    HostFacts facts = facts_of_this_host();
    facts.buffers = memory_.send + memory_.receive;
    facts.library = memory_.reduced;
    facts.threads = (wants_second_thread(spec_) ? 2 : 1) + (spec_.overlap ? transport_.busy_threads() : 0);
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
        terms.ranks_per_host = std::max(terms.ranks_per_host, host.ranks);
        if (host.cores_shared() && !terms.cores_shared)
          table_.notes.push_back(fmt::format(
              "{} threads share {} cores: a waiting rank offers its core to the others, and waiting for "
              "a core is part of the times",
              host.threads, host.cores));
        terms.cores_shared = terms.cores_shared || host.cores_shared();
      }
      for (const std::string& text : shortages)
        if (!text.empty()) return text;
      return memory_shortage(hosts);
    });
    if (!shortage.empty()) throw UserError("coll", shortage, "use fewer ranks or a smaller --max-size");
    terms.run = (std::uint64_t{std::random_device{}()} << 32 | std::random_device{}()) | 1;
    return control_.broadcast_value(terms);
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
      if (!measure_row(row) || !report_row(row)) return;
    }
  }

  /// False where the ranks have agreed to end before it was complete.
  bool measure_row(std::size_t index) {
    const CollCase& row = rows_[index];
    const CollMoves moves = moves_of(row, spec_, place_, transport_, send_->get(), receive_->get());
    const Transfer in_step{.kind = OperationKind::barrier, .communicator = place_.communicator};
    CollTimer timer(spec_, transport_, clock_, *at_, in_step, outstanding_.get());
    const NextStretch next = [this, index](int left) { return next_stretch(index, left); };
    series_.assign(spec_.series ? std::size_t(spec_.iterations) : 0, 0);
    outcome_ = {};
    seen_.clear();
    expected_ = 0;
    stretch_ = 0;

    begin(index, CollPhase::verify_before);
    verify(timer, moves, index, 0);
    begin(index, CollPhase::warm_up);
    if (!timer.warm_up(moves, next)) return false;
    leave();
    begin(index, CollPhase::measure);
    const std::optional<CollTimes> times = timer.measure(moves, series_, next, incident_in(index));
    if (!times) return false;
    outcome_.times = *times;
    leave();
    if (spec_.overlap && overlap_can_be_told()) {
      begin(index, CollPhase::overlap);
      if (!timer.overlap(moves, next, *emulator(), outcome_.times)) return false;
      leave();
    }
    begin(index, CollPhase::verify_after);
    together();
    verify(timer, moves, index, 1);
    return true;
  }

  /// About half a second's, by what one of the stretch before took where the slowest of the ranks has been waited for:
  /// so often the ranks can be asked to end. One with compute takes up to twice as long as one without.
  int next_stretch(std::size_t index, int left) {
    constexpr double length = 0.5e9;
    enter(agreeing);
    if (stretch_ > 0) {
      control_.barrier();
      expected_ = double(clock_.now() - stretch_began_) / stretch_;
    }
    const double fitting = expected_ > 0 ? length / expected_ : 1;
    stretch_ = fitting < left ? std::max(1, int(fitting)) : left;
    stretch_ = control_.broadcast_value(StopSignals::first() != 0 ? 0 : stretch_);
    control_.barrier();
    leave();
    if (stretch_ > 0) enter_row(index);
    stretch_began_ = clock_.now();
    return stretch_;
  }

  void together() {
    enter(starting);
    control_.barrier();
    leave();
  }

  void verify(CollTimer& timer, const CollMoves& moves, std::size_t index, std::uint64_t time) {
    if (!spec_.verify) return;
    const CollData data(rows_[index], moves, place_, 2 * index + time);
    data.write(transport_);
    enter_row(index);
    const std::int64_t began = clock_.now();
    timer.once(moves);
    expected_ = double(clock_.now() - began);
    leave();
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
      log_->add(table_.rows.back());
      verdict.wrong = table_.wrong.empty() && table_.rows.back().wrong.value_or(0) > 0;
      verdict.stop = StopSignals::first() != 0;
      progress::report("measured rows", std::int64_t(index) + 1, std::int64_t(rows_.size()));
    }
    verdict = control_.broadcast_value(verdict);
    if (verdict.wrong)
      for (const std::string& seen : control_.gather(seen_))
        if (table_.wrong.empty()) table_.wrong = seen;
    leave();
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
    table_.stopped_by = "rows";
    if (table_.rows.size() < rows_.size()) {
      const int told = signal_told();
      table_.stopped_by = signal_name(told != 0 ? told : StopSignals::first());
      table_.notes.push_back(fmt::format("ended early by {} after {} of {} rows", table_.stopped_by,
                                         table_.rows.size(), rows_.size()));
    }
  }

  const CollSpec& spec_;
  const CollSessionOptions& options_;
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
  double expected_ = 0;  // ns of an iteration; 0: nothing is known of it
  int stretch_ = 0;      // iterations since the ranks have gone on together
  std::int64_t stretch_began_ = 0;
  CollTable table_;
  std::optional<CollLog> log_;      // rank 0's
  Place* at_ = nullptr;             // the recorder's
  std::unique_ptr<Sentry> sentry_;  // last: its thread looks at the rest
};

}  // namespace

bool wants_second_thread(const CollSpec& spec) {
  return spec.overlap && progress_mode(spec.progress) == ProgressMode::thread;
}

std::optional<CollTable> run_coll_session(const CollSpec& spec, Transport& transport, Clock& clock,
                                          const CollSessionOptions& options) {
  return CollSession(spec, transport, clock, options).run();
}

namespace {

void open_world(const Backend& backend, const CollSpec& spec, const CollSessionOptions& options,
                std::optional<CollTable>& table) {
  std::mutex mutex;  // ranks may be threads
  const WorldOptions world{.ranks = spec.ranks,
                           .second_thread = wants_second_thread(spec),
                           .watchdog = spec.watchdog,
                           .buffers = buffers_of(backend, spec.buffers)};
  backend.open(world, [&](Transport& transport) {
    if (options.start) options.start->joined();
    std::optional<CollTable> own = run_coll_session(spec, transport, monotonic_clock(), options);
    const std::lock_guard lock(mutex);
    if (own) table = std::move(own);
  });
}

/// All ranks in this process, which therefore outlives them.
std::optional<CollTable> run_threads(const Backend& backend, const CollSpec& spec,
                                     CollSessionOptions options) {
  check_room_for_threads(spec.ranks, wants_second_thread(spec));
  sweep_left_folders();
  const FirstRankFolder folder(folder_of_folders());
  std::atomic<bool> over = false;
  options.folder = spec.recorder.empty() ? folder.path() : recorder_folder(spec.recorder, 0);
  options.ranks_are_threads = true;
  options.over = &over;
  clear_records(options.folder);
  std::optional<CollTable> table;
  try {
    open_world(backend, spec, options, table);
  } catch (const LostRank&) {
    report_lost_threads(inquiry_of(spec, options.on_partial), options.folder);
    throw;
  }
  return table;
}

}  // namespace

std::optional<CollTable> run_coll(const CollSpec& spec, const OnPartialTable& on_partial) {
  const Backend& backend = usable_backend(spec.backend);
  const StopSignals signals(backend.launcher ? StopSignals::Second::acts_as_usual
                                             : StopSignals::Second::is_told);
  CollSessionOptions options;
  options.fault = fault_asked(spec.ranks, !backend.launcher);
  options.on_partial = on_partial;
  if (!backend.launcher) return run_threads(backend, spec, std::move(options));

  if (inside_a_world() && is_first_rank()) report_as_first_rank();
  if (started_by_us()) {
    // The process that started the ranks keeps what was measured.
    options.on_partial = {};
    options.folder = folder_of_launch(spec.recorder);
  }
  Start start(spec.ranks, spec.watchdog, !options.folder.empty(), options);
  options.start = &start;
  std::optional<CollTable> table;
  open_world(backend, spec, options, table);
  return table;
}

}  // namespace dlnb
