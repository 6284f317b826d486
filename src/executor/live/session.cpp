// SPDX-License-Identifier: Apache-2.0
#include "executor/live/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <dlnb/error.hpp>

#include "core/log.hpp"
#include "core/progress.hpp"
#include "executor/live/arrival.hpp"
#include "executor/live/binding.hpp"
#include "executor/live/buffers.hpp"
#include "executor/live/clocks.hpp"
#include "executor/live/control.hpp"
#include "executor/live/core_binding.hpp"
#include "executor/live/energy_meter.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/gpu/device_compute.hpp"
#include "executor/live/hosts.hpp"
#include "executor/live/inquiry.hpp"
#include "executor/live/merge.hpp"
#include "executor/live/outstanding.hpp"
#include "executor/live/run_folder.hpp"
#include "executor/live/salvage.hpp"
#include "executor/live/sentry.hpp"
#include "executor/live/stop.hpp"
#include "executor/live/stopping.hpp"
#include "executor/live/verify.hpp"

namespace dlnb {
namespace {

/// What all ranks know of the hosts they run on.
struct Terms {
  bool cores_shared = false;  ///< somewhere: then no rank spins
  bool one_clock = true;
  std::uint64_t run = 0;            ///< a number that tells this run from others
  std::int64_t ranks_per_host = 1;  ///< at most
};

/// What rank 0 tells about the iteration under way.
enum Decision : std::int64_t { another, last_one, clocks_then_another };

class Session {
 public:
  Session(const Schedule& schedule, const RunSpec& spec, Transport& transport, Clock& clock,
          const SessionOptions& options)
      : schedule_(schedule),
        spec_(spec),
        options_(options),
        transport_(transport),
        clock_(clock),
        mode_(progress_mode(spec.progress)),
        control_(transport),
        rule_(spec) {}

  std::optional<Trace> run() {
    const std::int64_t ranks = schedule_.grid.ranks();
    if (transport_.size() != ranks)
      throw UserError("--ranks", fmt::format("the plan has {} ranks, the world {}", ranks, transport_.size()),
                      fmt::format("start {} processes", ranks));
    binding_ = bind(schedule_, transport_.rank(), transport_.reduces_in_place());
    refuse_what_the_library_lacks();
    const Terms terms = settle_terms();
    set_sentry(terms);
    return sentry_->guard([&] { return measured(terms); });
  }

 private:
  static constexpr double clock_interval = 30;  ///< seconds between estimates

  Recorder& recorder() { return sentry_->recorder(); }

  std::optional<Trace> measured(const Terms& terms) {
    neighbours_ = find_neighbours(control_);
    cores_.emplace(control_, neighbours_, binding_mode(spec_.binding), threads());
    if (const Cpus* helpers = cores_->helpers()) sentry_->watchdog().move_to(*helpers);
    if (terms.cores_shared) transport_.share_cores();
    prepare();
    read_clocks(terms);
    if (spec_.verify) verify_data();
    // Each transfer is tried in any case, in an order in which no two ranks wait for each other.
    else if (transport_.connects_on_first_use()) try_transfers();
    measure(terms);
    read_clocks(terms);
    return collect();
  }

  void enter(Beyond place) {
    beyond_ = int(binding_.operations.size()) + place;
    place_->enter(beyond_, monotonic_clock().now());
  }
  void leave() { place_->leave(beyond_); }

  void set_sentry(const Terms& terms) {
    if (control_.first() && options_.folder.empty()) sweep_left_folders();
    const bool known = !spec_.forever && spec_.min_time.value <= 0 && spec_.spread <= 0;
    sentry_ =
        std::make_unique<Sentry>(Sentry::Job{.inquiry = inquiry_of(schedule_, spec_, options_.on_partial),
                                             .options = options_,
                                             .recorder = spec_.recorder,
                                             .watchdog = spec_.watchdog,
                                             .forever = spec_.forever,
                                             .run = terms.run,
                                             .ranks_per_host = terms.ranks_per_host,
                                             .iterations = known ? spec_.iterations : 0},
                                 transport_, binding_.operations.size());
    place_ = &recorder().head().place;
    if (options_.start) options_.start->over();
    if (control_.first() && !sentry_->hidden().empty())
      notes_.push_back(fmt::format("no flight recorder that others can read: {}", sentry_->hidden()));
    recorder().head().cores_shared = cores_shared_ = terms.cores_shared;
    if (options_.fault) notes_.push_back("with a fault on purpose (DLNETBENCH_FAULT)");
    for (const std::string& remark : transport_.remarks()) notes_.push_back(remark);
  }

  /// That want a core at the same time.
  int threads() const { return (mode_ == ProgressMode::thread ? 2 : 1) + transport_.busy_threads(); }

  // The memory of an accelerator is this rank's alone.
  std::string device_shortage() const {
    const std::int64_t needed = binding_.buffer_bytes(), available = transport_.device_memory();
    if (available < 0 || needed <= available) return {};
    return fmt::format("rank {} needs {} for buffers on its accelerator, which has {} left",
                       transport_.rank(), to_text(Bytes{needed}), to_text(Bytes{available}));
  }

  // Everybody tells rank 0 what it has and needs; rank 0 decides for all.
  Terms settle_terms() {
    if (const std::string first = first_said(device_shortage()); !first.empty())
      throw UserError("run", first, "use more ranks, a smaller plan, or --scale");
    HostFacts facts = facts_of_this_host();
    if (transport_.device_memory() < 0) {
      facts.buffers = binding_.buffer_bytes();
      facts.library = binding_.library_bytes();
    }
    facts.threads = threads();
    const std::vector<HostFacts> all = control_.gather_values(facts);
    Terms terms;
    terms.run = (std::uint64_t{std::random_device{}()} << 32 | std::random_device{}()) | 1;
    const std::string shortage = agree(control_, [&] {
      const std::vector<HostUse> hosts = hosts_of(all);
      terms.one_clock = one_clock(all);
      for (const HostUse& host : hosts) {
        terms.ranks_per_host = std::max(terms.ranks_per_host, host.ranks);
        log::info(
            fmt::format("memory on {}: {} for buffers of {} ranks, about {} in the library, {} available",
                        host.identity.substr(0, host.identity.find(' ')), to_text(Bytes{host.buffers}),
                        host.ranks, to_text(Bytes{host.library}), to_text(Bytes{host.available})));
        if (!host.cores_shared()) continue;
        if (!terms.cores_shared)
          notes_.push_back(fmt::format(
              "{} threads share {} cores: compute phases do not spin and are paid in lumps of 500 us; "
              "what a rank waits for a core beyond a deadline counts as transfer",
              host.threads, host.cores));
        terms.cores_shared = true;
      }
      return memory_shortage(hosts);
    });
    if (!shortage.empty()) throw UserError("run", shortage, "use fewer ranks, a smaller plan, or --scale");
    std::vector<int> leaders(std::size_t(transport_.size()));
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      leaders[rank] = int(std::ranges::find(all, all[rank].identity, &HostFacts::identity) - all.begin());
    leaders_ = control_.broadcast_values(std::move(leaders));
    return control_.broadcast_value(terms);
  }

  void read_clocks(const Terms& terms) {
    if (terms.one_clock) return;
    enter(reading_clocks);
    offsets_.push_back(estimate_offset(control_, clock_, leaders_));
    leave();
    recorder().add_offset(offsets_.back());
    clocks_read_ = clock_.now();
    // What is not needed for the iterations that are kept.
    if (spec_.forever && offsets_.size() > RecorderHead::most_offsets) offsets_.erase(offsets_.begin());
  }

  void prepare() {
    std::vector<int> communicators;
    enter(setting_up);
    for (const auto& members : binding_.groups) communicators.push_back(transport_.communicator(members));
    transport_.connect(communicators[0], binding_.peers(OperationKind::send),
                       binding_.peers(OperationKind::recv));
    leave();
    cores_->sit();
    buffers_ = std::make_unique<Buffers>(transport_, binding_.lanes);
    const auto set_buffers = [&](Action& action) {
      if (action.what != Action::What::run && action.what != Action::What::start) return;
      action.transfer.communicator = communicators[std::size_t(action.transfer.communicator)];
      action.transfer.receive = buffers_->receive(action.lane);
      action.transfer.send = action.in_place ? action.transfer.receive : buffers_->send(action.lane);
    };
    std::ranges::for_each(binding_.actions, set_buffers);
    transport_.reserve(binding_.slots + 1);  // the last one is for the agreement on another iteration
  }

  /// What the first rank has to say that has anything to say.
  std::string first_said(const std::string& own) {
    const std::vector<std::string> all = control_.gather(own);
    return agree(control_, [&] {
      const auto place = std::ranges::find_if(all, [](const std::string& text) { return !text.empty(); });
      return place == all.end() ? std::string() : *place;
    });
  }

  // Ranks have different programs, and all of them refuse what one cannot carry out.
  void refuse_what_the_library_lacks() {
    std::string own;
    for (const Action& action : binding_.actions)
      if (own.empty() && (action.what == Action::What::run || action.what == Action::What::start))
        own = transport_.lacks(action.transfer.kind, action.transfer.dtype,
                               std::max(action.transfer.elements_sent, action.transfer.elements_received));
    const std::string first = first_said(own);
    if (!first.empty()) throw Unavailable("--backend", first, "use another backend, or another type");
  }

  Verification try_transfers() {
    recorder().enter(Stage::verifying);
    return verify(schedule_, binding_, transport_, sentry_->watchdog());
  }

  void verify_data() {
    const Verification own = try_transfers();
    const std::string first = first_said(own.mismatch);
    if (!first.empty()) throw WrongResult("verification", first);
    notes_.push_back(fmt::format(
        "verified before timing: {} distinct operations on rank 0, every rank its own", own.operations));
  }

  std::unique_ptr<Compute> make_emulator(const Terms& terms) {
    if (spec_.compute == "device") return emulator_on_device(terms);
    if (terms.cores_shared) return std::make_unique<SharedCompute>(clock_, outstanding_.get());
    return std::make_unique<ExactCompute>(clock_, outstanding_.get());
  }

  std::unique_ptr<Compute> emulator_on_device(const Terms& terms) {
    std::unique_ptr<gpu::DeviceCompute> emulator;
    std::string problem;
    try {
      emulator = std::make_unique<gpu::DeviceCompute>(*transport_.gpu(), clock_, outstanding_.get(),
                                                      spec_.compute_share, terms.cores_shared);
    } catch (const std::runtime_error& error) {
      problem = fmt::format("rank {}: {}", transport_.rank(), error.what());
    }
    if (const std::string first = first_said(problem); !first.empty())
      throw Unavailable("--compute", first, "use --compute host");
    notes_.push_back(emulator->description());
    return emulator;
  }

  void measure(const Terms& terms) {
    {
      const CoreBinding::Aside aside(*cores_);
      outstanding_ = make_outstanding(mode_, transport_, clock_, binding_.slots);
      meter_.emplace(neighbours_, clock_);
    }
    const std::unique_ptr<Compute> emulator = make_emulator(terms);
    Compute& compute = *emulator;
    record_.rank = transport_.rank();
    one_iteration_.resize(binding_.actions.size());
    if (!spec_.forever) reserve(std::size_t(std::max(spec_.iterations, 1)));
    if (options_.fault && !options_.fault->at_start && options_.fault->rank == transport_.rank())
      faulty_ = plant(binding_, *options_.fault);
    if (control_.first())
      for (const std::string& note : notes_) recorder().add_note(note);
    try {
      recorder().enter(Stage::warming_up);
      for (int i = 0; i < spec_.warmup; ++i) {
        recorder().begin_iteration(i - spec_.warmup);
        iterate(compute, one_iteration_.data());
      }
      compute.forget();
      recorder().enter(Stage::starting);
      meter_->begin();
      enter(starting);
      control_.barrier();
      leave();
      recorder().begin_iteration(0);
      recorder().enter(Stage::measuring);
      measure_iterations(compute, terms);
      meter_->end();
    } catch (const std::exception& error) {
      // Nobody may move data into buffers that are about to go.
      sentry_->give_up();
      transport_.abort(int(Exit::lost_rank),
                       fmt::format("rank {} failed: {}", transport_.rank(), error.what()));
      outstanding_->drain();
      if (agreement_under_way_) settle_quietly();
      throw;
    }
    recorder().enter(Stage::collecting);
  }

  // Rank 0 decides before an iteration whether it is the last one, and tells while it runs: nobody waits for
  // it.
  void measure_iterations(Compute& compute, const Terms& terms) {
    const std::size_t operations = binding_.actions.size();
    std::int64_t first_begin = 0;
    decision_ = another;
    for (std::int64_t done = 1; decision_ != last_one; ++done) {
      Interval* intervals = one_iteration_.data();
      if (!spec_.forever) {
        if (record_.iteration_begin.size() == record_.iteration_begin.capacity())
          reserve(std::size_t(done) * 2);
        const std::size_t base = record_.intervals.size();
        record_.intervals.resize(base + operations);
        intervals = record_.intervals.data() + base;
      }
      recorder().begin_iteration(done - 1);
      decision_ = decide(done, done == 1 ? 0 : clock_.now() - first_begin, terms);
      start_agreement();
      const std::int64_t begin = clock_.now();
      const std::int64_t end = iterate(compute, intervals);
      finish_agreement();
      if (done == 1) first_begin = begin;
      rule_.add(end - begin);
      keep(begin, end, {intervals, operations}, compute.accuracy());
      if (decision_ == clocks_then_another) read_clocks(terms);
      if (transport_.rank() == 0)
        progress::report("measured iterations", done, spec_.forever ? 0 : spec_.iterations);
    }
  }

  void keep(std::int64_t begin, std::int64_t end, std::span<const Interval> intervals,
            const Accuracy& accuracy) {
    std::int64_t communication = 0;
    for (std::size_t i = 0; i < intervals.size(); ++i)
      if (binding_.actions[i].what != Action::What::compute)
        communication += intervals[i].end - intervals[i].begin;
    record_.compute_error = recorder().head().compute_error = accuracy.relative;
    record_.compute_error_ns = recorder().head().compute_error_ns = accuracy.nanoseconds;
    recorder().keep(begin, end, communication, intervals);
    ++iterations_;
    if (spec_.forever) return;
    record_.iteration_begin.push_back(begin);
    record_.iteration_end.push_back(end);
  }

  Decision decide(std::int64_t iteration, std::int64_t elapsed, const Terms& terms) {
    if (!control_.first()) return another;
    stopped_by_ = rule_.last(iteration, elapsed);
    ended_by_signal_ = stopped_by_.empty() && StopSignals::first() != 0;
    if (ended_by_signal_) stopped_by_ = ending_signal();
    if (!stopped_by_.empty()) return last_one;
    const bool due = !terms.one_clock && double(clock_.now() - clocks_read_) * 1e-9 >= clock_interval;
    return due ? clocks_then_another : another;
  }
  // A launcher may hand on another signal than the one that was sent to it.
  static std::string ending_signal() {
    const int told = signal_told();
    return signal_name(told != 0 ? told : StopSignals::first());
  }

  void reserve(std::size_t iterations) {
    record_.iteration_begin.reserve(iterations);
    record_.iteration_end.reserve(iterations);
    // Written to and taken back: the pages are there.
    const std::size_t used = record_.intervals.size();
    record_.intervals.resize(iterations * binding_.actions.size());
    record_.intervals.resize(used);
  }

  Transfer agreement() {
    return {.kind = OperationKind::broadcast,
            .dtype = DataType::float8,
            .communicator = control_.communicator(),
            .receive = reinterpret_cast<std::byte*>(&decision_),
            .elements_sent = sizeof decision_,
            .elements_received = sizeof decision_,
            .on_host = true};
  }
  void start_agreement() {
    transport_.start(binding_.slots, agreement());
    agreement_under_way_ = true;
  }
  void finish_agreement() {
    enter(agreeing);
    transport_.wait(binding_.slots);
    leave();
    agreement_under_way_ = false;
  }
  void settle_quietly() noexcept try {
    transport_.wait(binding_.slots);
  } catch (const std::exception&) {  // the first failure is the one that is reported
  }

  // The timed loop: no allocation, no lock, no text. One reading of the clock per operation.
  std::int64_t iterate(Compute& compute, Interval* intervals) {
    std::int64_t now = clock_.now();
    const int count = int(binding_.actions.size());
    for (int i = 0; i < count; ++i) {
      intervals[i].begin = now;
      now = perform(binding_.actions[std::size_t(i)], i, compute, intervals, now);
    }
    return now;
  }

  [[gnu::always_inline]] inline std::int64_t perform(const Action& action, int i, Compute& compute,
                                                     Interval* intervals, std::int64_t now) {
    switch (action.what) {
      case Action::What::skip: break;
      case Action::What::compute: {
        place_->pass(i);
        const Outcome phase = compute.run(now, action.asked);
        intervals[i].end = phase.end;
        intervals[i].completed = phase.computed;
        return phase.end;
      }
      case Action::What::run:
        place_->enter(i, now);
        transport_.run(action.transfer);
        place_->leave(i);
        now = clock_.now();
        break;
      case Action::What::start:
        outstanding_->start(action.slot, action.transfer);
        place_->pass(i);
        now = clock_.now();
        break;
      case Action::What::wait:
        place_->enter(i, now);
        for (int w = action.first_waited; w < action.first_waited + action.waited_count; ++w) {
          const Waited& waited = binding_.waited[std::size_t(w)];
          intervals[waited.operation].completed = outstanding_->wait(waited.slot);
        }
        place_->leave(i);
        now = clock_.now();
        break;
      case Action::What::fault: return perform_faulty(i, compute, intervals, now);
    }
    intervals[i].end = now;
    intervals[i].completed = now;
    return now;
  }

  [[gnu::noinline]] std::int64_t perform_faulty(int i, Compute& compute, Interval* intervals,
                                                std::int64_t now) {
    if (recorder().head().stage == int(Stage::measuring) &&
        recorder().head().iteration == options_.fault->iteration)
      strike(*options_.fault, options_);
    return perform(faulty_, i, compute, intervals, now);
  }

  std::optional<Trace> collect() {
    if (spec_.forever) record_ = recorder().kept();
    const std::int64_t first_iteration = iterations_ - std::int64_t(record_.iteration_begin.size());
    to_first_clock(record_, offsets_);
    std::int64_t bound = 0;
    for (const Offset& offset : offsets_) bound = std::max(bound, offset.bound);
    enter(collecting);
    const auto bounds = control_.gather_values(bound);
    const auto records = control_.gather(pack(record_));
    std::vector<Series> series;
    if (spec_.forever) series = control_.gather_values(recorder().head().series);
    Trace trace;
    meter_->collect(control_, trace);
    control_.barrier();
    leave();
    if (!control_.first()) return std::nullopt;

    trace.binding = cores_->map();
    trace.executor = spec_.backend;
    trace.library = transport_.library();
    trace.iterations = int(record_.iteration_begin.size());
    trace.first_iteration = first_iteration;
    for (const auto& bytes : records) trace.ranks.push_back(unpack(bytes));
    shift_to_common_start(trace.ranks);
    trace.clock_bound_ns = bound_of_pairs(bounds, leaders_);
    trace.stopped_by = stopped_by_;
    trace.series = merged(std::move(series));
    trace.notes.insert(trace.notes.begin(), notes_.begin(), notes_.end());
    for (const std::string& said : cores_->notes())
      trace.notes.push_back(fmt::format("binding {}: {}", spec_.binding, said));
    // Also libraries that move data by themselves are asked: only so it is known when data had moved.
    trace.notes.push_back(fmt::format("progress while computing: {}{}", name_of(mode_),
                                      spec_.progress == "auto" ? " (the default: every 200 us)" : ""));
    if (ended_by_signal_)
      trace.notes.push_back(fmt::format("ended {}by {} after {}", spec_.forever ? "" : "early ", stopped_by_,
                                        counted(iterations_, "iteration")));
    judge_compute(trace, cores_shared_, spec_.compute == "device");
    return trace;
  }

  const Schedule& schedule_;
  const RunSpec& spec_;
  const SessionOptions& options_;
  Transport& transport_;
  Clock& clock_;
  const ProgressMode mode_;
  const Control control_;
  StoppingRule rule_;
  Binding binding_;
  Action faulty_;
  std::vector<int> leaders_;
  std::vector<Offset> offsets_;
  std::int64_t clocks_read_ = 0;
  Neighbours neighbours_;
  std::optional<CoreBinding> cores_;
  std::optional<EnergyMeter> meter_;
  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<Outstanding> outstanding_;
  std::int64_t decision_ = another;
  Place* place_ = nullptr;  // the recorder's
  int beyond_ = 0;
  bool agreement_under_way_ = false;
  bool ended_by_signal_ = false;
  bool cores_shared_ = false;
  std::string stopped_by_;
  std::int64_t iterations_ = 0;
  RankTrace record_;
  std::vector<Interval> one_iteration_;
  std::vector<std::string> notes_;
  std::unique_ptr<Sentry> sentry_;  // last: its thread looks at the rest
};

}  // namespace

std::optional<Trace> run_session(const Schedule& schedule, const RunSpec& spec, Transport& transport,
                                 Clock& clock, const SessionOptions& options) {
  return Session(schedule, spec, transport, clock, options).run();
}

}  // namespace dlnb
