// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>

#include <dlnb/error.hpp>

#include "executor/live/arrival.hpp"
#include "executor/live/backend.hpp"
#include "executor/live/binding.hpp"
#include "executor/live/compute.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/gpu/driver.hpp"
#include "executor/live/inquiry.hpp"
#include "executor/live/live.hpp"
#include "executor/live/outstanding.hpp"
#include "executor/live/recorder.hpp"
#include "executor/live/run_folder.hpp"
#include "executor/live/salvage.hpp"
#include "executor/live/session.hpp"
#include "executor/live/stop.hpp"
#include "executor/live/surroundings.hpp"
#include "executor/live/thread_room.hpp"

namespace dlnb {

const Backend& usable_backend(std::string_view name) {
  const Backend& backend = entry_called(backends::all(), name, "--backend");
  if (const std::string reason = backend.missing(); !reason.empty()) throw Unavailable("--backend", reason);
  return backend;
}

std::string_view name_of(MemoryKind memory) {
  constexpr std::string_view names[] = {"host", "cuda", "hip"};
  return names[std::size_t(memory)];
}

std::string missing(MemoryKind memory) {
  if (memory == MemoryKind::host) return {};
  return gpu::driver_of(memory == MemoryKind::cuda ? gpu::Vendor::nvidia : gpu::Vendor::amd).problem;
}

MemoryKind buffers_of(const Backend& backend, std::string_view word) {
  if (word == "auto") return backend.memories.front();
  const auto place =
      std::ranges::find(backend.memories, word, [](MemoryKind memory) { return name_of(memory); });
  if (place == backend.memories.end()) {
    std::vector<std::string_view> names;
    for (const MemoryKind memory : backend.memories) names.push_back(name_of(memory));
    throw UserError("--buffers", fmt::format("backend '{}' has no buffers in '{}'", backend.name, word),
                    fmt::format("it has them in: {}", fmt::join(names, ", ")));
  }
  if (const std::string reason = missing(*place); !reason.empty())
    throw Unavailable("--buffers", reason, "use --buffers host");
  return *place;
}

void check_compute(std::string_view compute, const Backend& backend, MemoryKind buffers) {
  if (compute != "device" || buffers != MemoryKind::host) return;
  throw UserError(
      "--compute",
      fmt::format("backend '{}' has its buffers on the host here: there is no device to compute on",
                  backend.name),
      "use --compute host; or nccl, rccl, or mpi with --buffers cuda or hip");
}

namespace {

/// Sleeps that end when the world does: the ranks are threads, and their process cannot end before them.
class WakingClock final : public Clock {
 public:
  explicit WakingClock(const std::atomic<bool>& over) : over_(over) {}

  std::int64_t now() override { return clock_.now(); }
  void yield() override { clock_.yield(); }
  void sleep(std::int64_t nanoseconds) override {
    for (const std::int64_t until = clock_.now() + nanoseconds; nanoseconds > nap;
         nanoseconds = until - clock_.now()) {
      clock_.sleep(nap);
      if (over_.load(std::memory_order_relaxed)) throw LostRank("threads", "the world has ended");
    }
    if (nanoseconds > 0) clock_.sleep(nanoseconds);
  }

 private:
  static constexpr std::int64_t nap = 50'000'000;

  Clock& clock_ = monotonic_clock();
  const std::atomic<bool>& over_;
};

void open_world(const Backend& backend, const Schedule& schedule, const RunSpec& spec, Clock& clock,
                const SessionOptions& options, std::optional<Trace>& trace) {
  std::mutex mutex;  // ranks may be threads
  const WorldOptions world{.ranks = schedule.grid.ranks(),
                           .second_thread = progress_mode(spec.progress) == ProgressMode::thread,
                           .watchdog = spec.watchdog,
                           .buffers = buffers_of(backend, spec.buffers)};
  backend.open(world, [&](Transport& transport) {
    if (options.start) options.start->joined();
    std::optional<Trace> own = run_session(schedule, spec, transport, clock, options);
    const std::lock_guard lock(mutex);
    if (own) trace = std::move(own);
  });
}

/// All ranks in this process, which therefore outlives them.
std::optional<Trace> run_threads(const Backend& backend, const Schedule& schedule, const RunSpec& spec,
                                 SessionOptions options) {
  check_room_for_threads(schedule.grid.ranks(), progress_mode(spec.progress) == ProgressMode::thread);
  sweep_left_folders();
  const FirstRankFolder folder(folder_of_folders());
  std::atomic<bool> over = false;
  WakingClock clock(over);
  options.folder = spec.recorder.empty() ? folder.path() : recorder_folder(spec.recorder, 0);
  options.ranks_are_threads = true;
  options.over = &over;
  clear_records(options.folder);
  std::optional<Trace> trace;
  try {
    open_world(backend, schedule, spec, clock, options, trace);
  } catch (const LostRank&) {
    report_lost_threads(inquiry_of(schedule, spec, options.on_partial), options.folder);
    if (!spec.forever || StopSignals::first() == 0) throw;
    const auto records = read_records(options.folder, schedule.grid.ranks(), 0);
    return salvage_after_signal(spec, records, schedule.grid.ranks(), StopSignals::first());
  }
  return trace;
}

}  // namespace

std::optional<Trace> run_live(const Schedule& schedule, const RunSpec& spec, const OnPartial& on_partial) {
  const Backend& backend = usable_backend(spec.backend);
  refuse_unsupported(schedule);
  check_compute(spec.compute, backend, buffers_of(backend, spec.buffers));
  const StopSignals signals(backend.launcher ? StopSignals::Second::acts_as_usual
                                             : StopSignals::Second::is_told);
  SessionOptions options;
  options.fault = fault_asked(schedule, !backend.launcher);
  options.on_partial = on_partial;
  if (!backend.launcher) return run_threads(backend, schedule, spec, std::move(options));

  if (inside_a_world() && is_first_rank()) report_as_first_rank();
  if (started_by_us()) {
    // The process that started the ranks keeps what was measured.
    options.on_partial = {};
    options.folder = folder_of_launch(spec.recorder);
  }
  Start start(schedule.grid.ranks(), spec.watchdog, !options.folder.empty(), options);
  options.start = &start;
  std::optional<Trace> trace;
  open_world(backend, schedule, spec, monotonic_clock(), options, trace);
  return trace;
}

bool inside_a_world() { return surroundings().inside; }
int launched_ranks() { return surroundings().size; }
bool is_first_rank() { return surroundings().rank == 0; }
void let_first_rank_speak() {
  if (inside_a_world() && !is_first_rank()) monotonic_clock().sleep(1'000'000'000);
}

bool needs_launcher(const std::string& backend) {
  return entry_called(backends::all(), backend, "--backend").launcher != nullptr;
}

}  // namespace dlnb
