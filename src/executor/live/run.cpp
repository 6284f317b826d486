// SPDX-License-Identifier: Apache-2.0
#include <mutex>

#include "executor/live/backend.hpp"
#include "executor/live/binding.hpp"
#include "executor/live/compute.hpp"
#include "executor/live/first_rank.hpp"
#include "executor/live/live.hpp"
#include "executor/live/outstanding.hpp"
#include "executor/live/session.hpp"
#include "executor/live/stop.hpp"
#include "executor/live/surroundings.hpp"

namespace dlnb {

const Backend& usable_backend(std::string_view name) {
  const Backend& backend = entry_called(backends::all(), name, "--backend");
  if (const std::string reason = backend.missing(); !reason.empty()) throw Unavailable("--backend", reason);
  return backend;
}

std::optional<Trace> run_live(const Schedule& schedule, const RunSpec& spec) {
  const Backend& backend = usable_backend(spec.backend);
  const ProgressMode progress = progress_mode(spec.progress);
  refuse_unsupported(schedule);

  if (inside_a_world() && is_first_rank()) report_as_first_rank();
  const StopSignals signals;
  std::mutex mutex;  // ranks may be threads
  std::optional<Trace> trace;
  const WorldOptions options{schedule.grid.ranks(), progress == ProgressMode::thread, spec.watchdog};
  backend.open(options, [&](Transport& transport) {
    std::optional<Trace> own = run_session(schedule, spec, transport, monotonic_clock());
    const std::lock_guard lock(mutex);
    if (own) trace = std::move(own);
  });
  return trace;
}

bool inside_a_world() { return surroundings().inside; }
int launched_ranks() { return surroundings().size; }
bool is_first_rank() { return surroundings().rank == 0; }

bool needs_launcher(const std::string& backend) {
  return entry_called(backends::all(), backend, "--backend").launcher != nullptr;
}

}  // namespace dlnb
