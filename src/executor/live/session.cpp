// SPDX-License-Identifier: Apache-2.0
#include "executor/live/session.hpp"

#include <fmt/format.h>
#include <string.h>  // sigabbrev_np

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <dlnb/error.hpp>

#include "core/log.hpp"
#include "core/progress.hpp"
#include "executor/live/binding.hpp"
#include "executor/live/buffers.hpp"
#include "executor/live/clocks.hpp"
#include "executor/live/control.hpp"
#include "executor/live/core_binding.hpp"
#include "executor/live/energy_meter.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/hosts.hpp"
#include "executor/live/merge.hpp"
#include "executor/live/outstanding.hpp"
#include "executor/live/stop.hpp"
#include "executor/live/verify.hpp"
#include "executor/live/watchdog.hpp"

namespace dlnb {
namespace {

/// What all ranks know of the hosts they run on.
struct Terms {
  bool cores_shared = false;  ///< somewhere: then no rank spins
  bool one_clock = true;
};

class Session {
 public:
  Session(const Schedule& schedule, const RunSpec& spec, Transport& transport, Clock& clock)
      : schedule_(schedule),
        spec_(spec),
        transport_(transport),
        clock_(clock),
        mode_(progress_mode(spec.progress)),
        control_(transport),
        watchdog_(spec.watchdog, [this](int place, double seconds) { lost(place, seconds); }) {}

  std::optional<Trace> run() {
    const std::int64_t ranks = schedule_.grid.ranks();
    if (transport_.size() != ranks)
      throw UserError("--ranks", fmt::format("the plan has {} ranks, the world {}", ranks, transport_.size()),
                      fmt::format("start {} processes", ranks));
    binding_ = bind(schedule_, transport_.rank(), transport_.reduces_in_place());
    refuse_what_the_library_lacks();
    const Terms terms = settle_terms();
    neighbours_ = find_neighbours(control_);
    cores_.emplace(control_, neighbours_, binding_mode(spec_.binding), threads());
    if (const Cpus* helpers = cores_->helpers()) watchdog_.move_to(*helpers);
    if (terms.cores_shared) transport_.share_cores();
    prepare();
    const Offset before = terms.one_clock ? Offset{} : estimate_offset(control_, clock_);
    if (spec_.verify) verify_data();
    // Each transfer is tried in any case, in an order in which no two ranks wait for each other.
    else if (transport_.connects_on_first_use()) verify(schedule_, binding_, transport_, watchdog_);
    measure(terms);
    const Offset after = terms.one_clock ? Offset{} : estimate_offset(control_, clock_);
    return collect(before, after);
  }

 private:
  static constexpr const char* other_places[] = {"setting up communicators", "starting together",
                                                 "agreeing on another iteration", "collecting the record"};
  enum Place : int { setting_up, starting, agreeing, collecting };

  void enter(Place place) {
    watchdog_.enter(int(binding_.operations.size()) + place, monotonic_clock().now());
  }

  // In the watchdog's thread.
  void lost(int place, double seconds) {
    const auto operations = binding_.operations.size();
    const std::size_t at = std::size_t(place);
    transport_.abort(int(Exit::lost_rank),
                     fmt::format("rank {} has waited {:.1f} s in {}", transport_.rank(), seconds,
                                 at < operations ? describe(schedule_, binding_.operations[at], at)
                                                 : std::string(other_places[at - operations])));
  }

  /// That want a core at the same time.
  int threads() const { return mode_ == ProgressMode::thread ? 2 : 1; }

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
    const std::string shortage = agree(control_, [&] {
      const std::vector<HostUse> hosts = hosts_of(all);
      terms.one_clock = one_clock(all);
      for (const HostUse& host : hosts) {
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
    return control_.broadcast_value(terms);
  }

  void prepare() {
    std::vector<int> communicators;
    enter(setting_up);
    for (const auto& members : binding_.groups) communicators.push_back(transport_.communicator(members));
    transport_.connect(communicators[0], binding_.peers(OperationKind::send),
                       binding_.peers(OperationKind::recv));
    watchdog_.leave();
    cores_->sit();
    buffers_ = std::make_unique<Buffers>(transport_, binding_.lanes);
    for (Action& action : binding_.actions) {
      if (action.what != Action::What::run && action.what != Action::What::start) continue;
      action.transfer.communicator = communicators[std::size_t(action.transfer.communicator)];
      action.transfer.receive = buffers_->receive(action.lane);
      action.transfer.send = action.in_place ? action.transfer.receive : buffers_->send(action.lane);
    }
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
        own = transport_.lacks(action.transfer.kind, action.transfer.dtype);
    const std::string first = first_said(own);
    if (!first.empty()) throw Unavailable("--backend", first, "use another backend, or another type");
  }

  void verify_data() {
    const Verification own = verify(schedule_, binding_, transport_, watchdog_);
    const std::string first = first_said(own.mismatch);
    if (!first.empty()) throw WrongResult("verification", first);
    notes_.push_back(fmt::format(
        "verified before timing: {} distinct operations on rank 0, every rank its own", own.operations));
  }

  void measure(const Terms& terms) {
    cores_shared_ = terms.cores_shared;
    {
      const CoreBinding::Aside aside(*cores_);
      outstanding_ = make_outstanding(mode_, transport_, clock_, binding_.slots);
      meter_.emplace(neighbours_, clock_);
    }
    std::unique_ptr<Compute> emulator;
    if (terms.cores_shared) emulator = std::make_unique<SharedCompute>(clock_, outstanding_.get());
    else emulator = std::make_unique<ExactCompute>(clock_, outstanding_.get());
    Compute& compute = *emulator;
    record_.rank = transport_.rank();
    reserve(std::size_t(std::max(spec_.iterations, 1)));
    try {
      std::vector<Interval> unused(binding_.actions.size());
      for (int i = 0; i < spec_.warmup; ++i) iterate(compute, unused.data());
      compute.forget();
      meter_->begin();
      enter(starting);
      control_.barrier();
      watchdog_.leave();
      measure_iterations(compute);
      meter_->end();
    } catch (const std::exception& error) {
      // Nobody may move data into buffers that are about to go.
      transport_.abort(int(Exit::lost_rank),
                       fmt::format("rank {} failed: {}", transport_.rank(), error.what()));
      outstanding_->drain();
      if (agreement_under_way_) settle_quietly();
      throw;
    }
    const Accuracy accuracy = compute.accuracy();
    record_.compute_error = accuracy.relative;
    record_.compute_error_ns = accuracy.nanoseconds;
  }

  // Rank 0 decides before an iteration whether it is the last one, and tells while it runs: nobody waits for
  // it.
  void measure_iterations(Compute& compute) {
    const std::size_t operations = binding_.actions.size();
    std::int64_t first_begin = 0;
    for (std::int64_t done = 1, last = 0; last == 0; ++done) {
      if (record_.iteration_begin.size() == record_.iteration_begin.capacity())
        reserve(std::size_t(done) * 2);
      const std::size_t base = record_.intervals.size();
      record_.intervals.resize(base + operations);
      decision_ = is_last(done, done == 1 ? 0 : clock_.now() - first_begin);
      start_agreement();
      const std::int64_t begin = clock_.now();
      const std::int64_t end = iterate(compute, record_.intervals.data() + base);
      finish_agreement();
      if (done == 1) first_begin = begin;
      record_.iteration_begin.push_back(begin);
      record_.iteration_end.push_back(end);
      last = decision_;
      if (transport_.rank() == 0) progress::report("measured iterations", done, spec_.iterations);
    }
  }

  bool is_last(std::int64_t iteration, std::int64_t elapsed) {
    const bool enough = iteration >= spec_.iterations && double(elapsed) * 1e-9 >= spec_.min_time.value;
    ended_early_ = !enough && StopSignals::first() != 0;
    return enough || ended_early_;
  }
  // A launcher may hand on another signal than the one that was sent to it.
  static std::string ending_signal() {
    const int told = signal_told();
    return fmt::format("SIG{}", sigabbrev_np(told != 0 ? told : StopSignals::first()));
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
    watchdog_.leave();
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
      const Action& action = binding_.actions[std::size_t(i)];
      intervals[i].begin = now;
      switch (action.what) {
        case Action::What::skip: break;
        case Action::What::compute: {
          const Outcome phase = compute.run(now, action.asked);
          now = intervals[i].end = phase.end;
          intervals[i].completed = phase.computed;
          continue;
        }
        case Action::What::run:
          watchdog_.enter(i, now);
          transport_.run(action.transfer);
          watchdog_.leave();
          now = clock_.now();
          break;
        case Action::What::start:
          outstanding_->start(action.slot, action.transfer);
          now = clock_.now();
          break;
        case Action::What::wait:
          watchdog_.enter(i, now);
          for (int w = action.first_waited; w < action.first_waited + action.waited_count; ++w) {
            const Waited& waited = binding_.waited[std::size_t(w)];
            intervals[waited.operation].completed = outstanding_->wait(waited.slot);
          }
          watchdog_.leave();
          now = clock_.now();
          break;
      }
      intervals[i].end = now;
      intervals[i].completed = now;
    }
    return now;
  }

  std::optional<Trace> collect(const Offset& before, const Offset& after) {
    to_first_clock(record_, before, after);
    enter(collecting);
    const auto bounds = control_.gather_values(std::max(before.bound, after.bound));
    const auto records = control_.gather(pack(record_));
    Trace trace;
    meter_->collect(control_, trace);
    control_.barrier();
    watchdog_.leave();
    if (!control_.first()) return std::nullopt;

    trace.binding = cores_->map();
    trace.executor = spec_.backend;
    trace.library = transport_.library();
    trace.iterations = int(record_.iteration_begin.size());
    for (const auto& bytes : records) trace.ranks.push_back(unpack(bytes));
    shift_to_common_start(trace.ranks);
    // Two ranks are each off rank 0 by their own bound at most.
    std::int64_t largest = 0, second = 0;
    for (const std::int64_t bound : bounds) {
      if (bound > largest) second = std::exchange(largest, bound);
      else second = std::max(second, bound);
    }
    trace.clock_bound_ns = largest + second;
    trace.notes.insert(trace.notes.begin(), notes_.begin(), notes_.end());
    for (const std::string& said : cores_->notes())
      trace.notes.push_back(fmt::format("binding {}: {}", spec_.binding, said));
    // Also libraries that move data by themselves are asked: only so it is known when data had moved.
    trace.notes.push_back(fmt::format("progress while computing: {}{}", name_of(mode_),
                                      spec_.progress == "auto" ? " (the default: every 200 us)" : ""));
    if (ended_early_)
      trace.notes.push_back(fmt::format("ended early by {} after {} iteration{}", ending_signal(),
                                        trace.iterations, trace.iterations == 1 ? "" : "s"));
    judge_compute(trace, cores_shared_);
    return trace;
  }

  const Schedule& schedule_;
  const RunSpec& spec_;
  Transport& transport_;
  Clock& clock_;
  const ProgressMode mode_;
  const Control control_;
  Binding binding_;
  Neighbours neighbours_;
  std::optional<CoreBinding> cores_;
  std::optional<EnergyMeter> meter_;
  std::unique_ptr<Buffers> buffers_;
  std::unique_ptr<Outstanding> outstanding_;
  std::int64_t decision_ = 0;
  bool agreement_under_way_ = false;
  bool ended_early_ = false;
  bool cores_shared_ = false;
  RankTrace record_;
  std::vector<std::string> notes_;
  Watchdog watchdog_;  // last: its thread looks at the rest
};

}  // namespace

std::optional<Trace> run_session(const Schedule& schedule, const RunSpec& spec, Transport& transport,
                                 Clock& clock) {
  return Session(schedule, spec, transport, clock).run();
}

}  // namespace dlnb
