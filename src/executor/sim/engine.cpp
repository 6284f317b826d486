// SPDX-License-Identifier: Apache-2.0
// The event loop: ranks run until they block; activities start when all have arrived and the one before on
// the same communicator or pair is over, wait their latency, then flow. All that happens at one time is
// worked off before rates are solved.
#include "executor/sim/engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "core/progress.hpp"

namespace dlnb::sim {
namespace {

/// Monotonic, so that intervals neither overlap nor run backwards.
std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

constexpr std::size_t first_window = 4;

}  // namespace

Engine::Engine(const std::vector<Role>& roles, const Lines& lines, const std::vector<Job>& jobs,
               const Machine& machine, const Placement& placement, const Network& network)
    : roles_(roles),
      lines_(lines),
      jobs_(jobs),
      flows_(machine, network, lines.activities(), events_),
      paths_(machine, placement, flows_),
      ranks_(lines.role_of.size()),
      activities_(lines.activities()) {
  for (std::size_t rank = 0, job = 0; rank < ranks_.size(); ++rank) {
    while (job + 1 < jobs.size() && std::int32_t(rank) >= jobs[job + 1].first_rank) ++job;
    ranks_[rank].job = std::int32_t(job);
    if (!jobs[job].repeats) ++awaited_;
  }
  DLNB_REQUIRE(awaited_ > 0, "a simulation ends");
}

int Engine::completed_iterations(std::size_t job) const {
  int completed = jobs_[job].iterations;
  for (std::size_t rank = std::size_t(jobs_[job].first_rank);
       rank < ranks_.size() && ranks_[rank].job == std::int32_t(job); ++rank)
    completed = std::min(completed, int(ranks_[rank].iteration));
  return std::max(0, completed - jobs_[job].warmup);
}

void Engine::run() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const double start = job_of(std::int32_t(rank)).start;
    if (start > 0) events_.add(start, EventKind::computed, std::int32_t(rank));
    else advance(std::int32_t(rank), 0);
  }
  while (!events_.empty() && finished_ != awaited_) {
    const double now = events_.next();
    while (!events_.empty() && events_.next() == now) {
      happen(events_.take());
      for (std::size_t i = 0; i < ready_.size(); ++i) advance(ready_[i], now);
      ready_.clear();
    }
    flows_.settle(now);
  }
  if (finished_ != awaited_) report_deadlock();
}

void Engine::happen(const Event& event) {
  switch (event.kind) {
    case EventKind::computed: return advance(event.subject, event.at);
    case EventKind::started: {
      const Activity& activity = activities_[std::size_t(event.subject)];
      return flows_.begin(event.subject, *activity.path, activity.bytes, event.at);
    }
    case EventKind::moved:
      if (!flows_.is_current(event)) return;
      flows_.finish(event.subject);
      return complete(event.subject, event.at);
  }
}

// --- ranks ------------------------------------------------------------------------------------------

Interval* Engine::interval(std::int32_t rank, std::int64_t iteration, std::int32_t action) {
  const Job& job = job_of(rank);
  if (!is_measured(job, iteration)) return nullptr;
  const std::size_t actions = role_of(rank).actions.size();
  return &job.trace->ranks[std::size_t(rank - job.first_rank)]
              .intervals[std::size_t(iteration - job.warmup) * actions + std::size_t(action)];
}

std::int64_t Engine::number_of(std::int32_t rank, const Action& action) const {
  const std::size_t each = role_of(rank).lines[std::size_t(action.line)].actions.size();
  return std::int64_t(ranks_[std::size_t(rank)].iteration) * std::int64_t(each) + action.ordinal;
}

void Engine::advance(std::int32_t index, double now) {
  Rank& rank = ranks_[std::size_t(index)];
  const Job& job = job_of(index);
  RankTrace& trace = job.trace->ranks[std::size_t(index - job.first_rank)];
  const Role& role = role_of(index);
  const std::int64_t time = nanoseconds(now);
  while (true) {
    if (std::size_t(rank.action) == role.actions.size()) {
      if (is_measured(job, rank.iteration))
        trace.iteration_end[std::size_t(rank.iteration - job.warmup)] = time;
      rank.action = 0;
      if (++rank.iteration == job.iterations && !job.repeats) {
        ++finished_;
        return;
      }
    }
    if (rank.action == 0 && !rank.arrived && is_measured(job, rank.iteration))
      trace.iteration_begin[std::size_t(rank.iteration - job.warmup)] = time;
    if (role.actions.empty()) {
      if (job.repeats) return;  // nothing to repeat
      continue;
    }

    const Action& action = role.actions[std::size_t(rank.action)];
    Interval* const here = interval(index, rank.iteration, rank.action);
    if (!rank.arrived) {
      rank.arrived = true;
      if (here != nullptr) here->begin = here->end = here->completed = time;
      if (begin(index, action, now)) return;
    }
    if (must_wait(index, action)) return;
    if (here != nullptr) {
      here->end = time;
      if (action.blocking && !action.eager) here->completed = time;
    }
    rank.arrived = false;
    ++rank.action;
    // One rank stands for all: in a step of synchronous training they are never far apart.
    if (index == 0)
      progress::report("simulated operations of rank 0",
                       std::int64_t(rank.iteration) * std::int64_t(role.actions.size()) + rank.action,
                       std::int64_t(job.iterations) * std::int64_t(role.actions.size()));
  }
}

/// Issues an operation; true where an event of its own will end it.
bool Engine::begin(std::int32_t rank, const Action& action, double now) {
  switch (action.doing) {
    case Doing::compute:
      if (action.amount <= 0) return false;
      events_.add(now + action.amount, EventKind::computed, rank);
      return true;
    case Doing::collective:
      arrive(lines_.activity(rank, action.line), number_of(rank, action), now);
      return false;
    case Doing::send:
    case Doing::recv: {
      const std::int32_t index = lines_.activity(rank, action.line);
      Activity& pair = activities_[std::size_t(index)];
      ++(action.doing == Doing::send ? pair.sent : pair.received);
      if (!pair.busy) start_message(index, now);
      return false;
    }
    case Doing::wait:
    case Doing::nothing: return false;
  }
  return false;
}

/// Whether the rank cannot leave the action yet; it will be advanced again when what it waits for completes.
bool Engine::must_wait(std::int32_t index, const Action& action) {
  Rank& rank = ranks_[std::size_t(index)];
  auto wait_for = [&](std::int32_t line, std::int64_t count) {
    const std::int32_t activity = lines_.activity(index, line);
    if (activities_[std::size_t(activity)].completed >= count) return false;
    rank.waiting = activity;
    rank.until = count;
    return true;
  };
  switch (action.doing) {
    case Doing::nothing:
    case Doing::compute: return false;
    case Doing::collective:
    case Doing::send:
    case Doing::recv:
      return action.blocking && !action.eager && wait_for(action.line, number_of(index, action) + 1);
    case Doing::wait: break;
  }
  const Role& role = role_of(index);
  for (std::int32_t t = 0; t < action.targets; ++t) {
    const Target& target = role.targets[std::size_t(action.ordinal) + std::size_t(t)];
    const std::size_t each = role.lines[std::size_t(target.line)].actions.size();
    if (wait_for(target.line, std::int64_t(rank.iteration) * std::int64_t(each) + target.count)) return true;
  }
  return false;
}

// --- activities ------------------------------------------------------------------------------------------

void Engine::arrive(std::int32_t index, std::int64_t number, double now) {
  Activity& activity = activities_[std::size_t(index)];
  std::vector<std::int32_t>& arrived = activity.arrived;
  // Members may be ahead of each other by as many operations as they issue without waiting.
  const std::size_t ahead = std::size_t(number - activity.completed);
  if (ahead >= arrived.size()) {
    std::vector<std::int32_t> wider(std::max(first_window, arrived.size()));
    while (wider.size() <= ahead) wider.resize(wider.size() * 2);
    for (std::size_t k = 0; k < arrived.size(); ++k) {
      const std::size_t operation = std::size_t(activity.completed) + k;
      wider[operation % wider.size()] = arrived[operation % arrived.size()];
    }
    arrived = std::move(wider);
  }
  ++arrived[std::size_t(number) % arrived.size()];
  if (!activity.busy && number == activity.completed) start_collective(index, now);
}

void Engine::start_collective(std::int32_t index, double now) {
  Activity& activity = activities_[std::size_t(index)];
  const Communicator& communicator = lines_.communicators[std::size_t(index)];
  if (activity.arrived.empty()) return;
  std::int32_t& arrived = activity.arrived[std::size_t(activity.completed) % activity.arrived.size()];
  if (arrived < communicator.size) return;
  arrived = 0;
  const Role& role = role_of(lines_.members[std::size_t(communicator.first_member)]);
  const Line& line = role.lines[std::size_t(role.line_over(communicator.axes))];
  const std::size_t ordinal = std::size_t(activity.completed) % line.actions.size();
  const Action& action = role.actions[std::size_t(line.actions[ordinal])];
  start(index, path_of(index, action.kind, action.amount), action.amount, now);
}

void Engine::start_message(std::int32_t index, double now) {
  Activity& activity = activities_[std::size_t(index)];
  if (activity.sent <= activity.completed) return;
  const Pair& pair = lines_.pair(index);
  const Role& role = role_of(pair.sender);
  const Line& line = role.lines[std::size_t(pair.send_line)];
  const std::size_t ordinal = std::size_t(activity.completed) % line.actions.size();
  const Action& action = role.actions[std::size_t(line.actions[ordinal])];
  if (!action.eager && activity.received <= activity.completed) return;
  start(index, path_of(index, OperationKind::send, action.amount), action.amount, now);
}

void Engine::start(std::int32_t index, Path& path, double bytes, double now) {
  Activity& activity = activities_[std::size_t(index)];
  activity.busy = true;
  activity.path = &path;
  activity.bytes = bytes * path.share;
  if (activity.bytes > 0) events_.add(now + path.latency, EventKind::started, index);
  else events_.add(now + path.latency, EventKind::moved, index, flows_.version(index));
}

Path& Engine::path_of(std::int32_t index, OperationKind kind, double bytes) {
  Activity& activity = activities_[std::size_t(index)];
  Path* best = nullptr;
  auto look = [&] {
    for (const auto& [known, path] : activity.paths)
      // Times that differ by rounding only are equal: the first candidate.
      if (known == kind && (best == nullptr || path->time(bytes) < best->time(bytes) * (1 - 1e-9)))
        best = path;
  };
  look();
  if (best == nullptr) {
    find_paths(index, kind);
    look();
  }
  return *best;
}

void Engine::find_paths(std::int32_t index, OperationKind kind) {
  auto keep = [&](Path path) {
    found_.push_back(std::move(path));
    activities_[std::size_t(index)].paths.emplace_back(kind, &found_.back());
  };
  if (lines_.is_pair(index)) {
    const Pair& pair = lines_.pair(index);
    keep(paths_.message(pair.sender, pair.receiver));
  } else {
    const Communicator& communicator = lines_.communicators[std::size_t(index)];
    for (Path& path : paths_.collective(kind, lines_.members_of(communicator))) keep(std::move(path));
  }
}

void Engine::complete(std::int32_t index, double now) {
  Activity& activity = activities_[std::size_t(index)];
  const std::int64_t number = activity.completed++;
  activity.busy = false;
  if (lines_.is_pair(index)) {
    const Pair& pair = lines_.pair(index);
    complete_at(pair.sender, pair.send_line, index, number, now);
    if (activity.received > number) complete_at(pair.receiver, pair.receive_line, index, number, now);
    return start_message(index, now);
  }
  const Communicator& communicator = lines_.communicators[std::size_t(index)];
  const Role* role = nullptr;
  std::int32_t line = -1;
  for (const std::int32_t member : lines_.members_of(communicator)) {
    if (role != &role_of(member)) {
      role = &role_of(member);
      line = role->line_over(communicator.axes);
    }
    complete_at(member, line, index, number, now);
  }
  start_collective(index, now);
}

/// Tells one rank that its operation `number` on an activity has completed.
void Engine::complete_at(std::int32_t index, std::int32_t line, std::int32_t activity, std::int64_t number,
                         double now) {
  const std::vector<std::int32_t>& actions = role_of(index).lines[std::size_t(line)].actions;
  const std::int64_t each = std::int64_t(actions.size());
  if (Interval* there = interval(index, number / each, actions[std::size_t(number % each)]))
    there->completed = nanoseconds(now);
  Rank& rank = ranks_[std::size_t(index)];
  if (rank.waiting != activity || rank.until > number + 1) return;
  rank.waiting = -1;
  ready_.push_back(index);
}

void Engine::report_deadlock() const {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    const Rank& rank = ranks_[r];
    if (rank.iteration >= job_of(std::int32_t(r)).iterations) continue;
    const Action& action = role_of(std::int32_t(r)).actions[std::size_t(rank.action)];
    const std::string message =
        fmt::format("{} of {} ranks never finish: rank {} waits in operation {} ({}) of iteration {}",
                    awaited_ - finished_, awaited_, r, rank.action, name_of(action.kind), rank.iteration);
    DLNB_REQUIRE(finished_ == awaited_, message);
  }
  std::abort();
}

}  // namespace dlnb::sim
