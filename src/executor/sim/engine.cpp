// SPDX-License-Identifier: Apache-2.0
// The event loop: runners run until they block; activities start when all have arrived and the one before on
// the same communicator or pair is over, wait their latency, then flow. All that happens at one time is
// worked off before rates are solved.
#include "executor/sim/engine.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "core/progress.hpp"

namespace dlnb::sim {
namespace {

constexpr std::size_t first_window = 4;

}  // namespace

Engine::Engine(const std::vector<Role>& roles, const Lines& lines, const PathTable& table,
               const Shared& shared, const std::vector<Job>& jobs, const Capacities& capacities,
               const Machine& machine, const Placement& placement, const Network& network)
    : lines_(lines),
      table_(table),
      jobs_(jobs),
      capacities_(capacities),
      moved_(table.paths.size()),
      flows_(capacities, network, table.paths, table.first_path, shared),
      positions_(lines.runners.size()),
      activities_(lines.activities()) {
  for (std::size_t runner = 0, job = 0; runner < positions_.size(); ++runner) {
    while (job + 1 < jobs.size() && std::int32_t(runner) >= jobs[job + 1].first_runner) ++job;
    const Runner& of = lines.runners[runner];
    positions_[runner].role = &roles[std::size_t(of.role)];
    positions_[runner].first_line = of.first_line;
    positions_[runner].job = std::int32_t(job);
    if (!jobs[job].repeats) ++awaited_;
  }
  DLNB_REQUIRE(awaited_ > 0, "a simulation ends");
  follow_disturbances(machine, placement);
  find_private_activities();
  for (std::size_t a = 0; a < activities_.size(); ++a) {
    const auto index = std::int32_t(a);
    Activity& activity = activities_[a];
    if (lines_.is_pair(index)) {
      const Pair& pair = lines_.pair(index);
      activity.sender = {lines_.runner_of[std::size_t(pair.sender)], pair.send_line};
      activity.receiver = {lines_.runner_of[std::size_t(pair.receiver)], pair.receive_line};
      activity.path = path_of(index, OperationKind::send, 0);
    } else {
      activity.sender = lines_.seats_of(lines_.communicators[a]).front();
    }
    activity.what.job = positions_[std::size_t(activity.sender.runner)].job;
  }
}

int Engine::completed_iterations(std::size_t job) const {
  int completed = jobs_[job].iterations;
  for (std::size_t runner = std::size_t(jobs_[job].first_runner);
       runner < positions_.size() && positions_[runner].job == std::int32_t(job); ++runner)
    completed = std::min(completed, int(positions_[runner].iteration));
  return std::max(0, completed - jobs_[job].warmup);
}

std::vector<Flows::Torn> Engine::run() {
  for (std::size_t runner = 0; runner < positions_.size(); ++runner) {
    double start = job_of(std::int32_t(runner)).start;
    if (pace_) start = pace_->first(std::int32_t(runner), start);
    if (start > 0) events_.add(start, EventKind::computed, std::int32_t(runner));
    else advance(std::int32_t(runner), 0);
  }
  while (finished_ != awaited_) {
    const double now = std::min(events_.next(), flows_.next());
    if (now == never) report_deadlock();
    if (now > latest)
      throw UserError("simulate", "the run takes more than 292 years, which is the longest time of a trace",
                      "check the units of what takes long, such as noise and compute_scale");
    while (true) {
      if (events_.next() == now) {
        happen(events_.take());
      } else if (flows_.next() == now) {
        const std::int32_t activity = flows_.first();
        flows_.finish(activity, now);
        moved(activity, now);
      } else {
        break;
      }
      for (std::size_t i = 0; i < ready_.size(); ++i) advance(ready_[i], now);
      ready_.clear();
    }
    flows_.settle(now);
    if (!flows_.torn().empty()) return flows_.torn();
    end_ = now;
  }
  return {};
}

void Engine::happen(const Event& event) {
  switch (event.kind) {
    case EventKind::computed:
      if (pace_ && !pace_->is_due(event.subject, event.at)) return;
      return advance(event.subject, event.at);
    case EventKind::started: {
      Activity& activity = activities_[std::size_t(event.subject)];
      if (!table_.goes_around.empty() && table_.paths[std::size_t(activity.path)].has_way_around)
        activity.path = flows_.less_asked(activity.path, activity.path + 1);
      return flows_.begin(event.subject, activity.path, activity.bytes, event.at, activity.what);
    }
    case EventKind::moved: return moved(event.subject, event.at);
  }
}

// --- runners ------------------------------------------------------------------------------------------

std::int64_t* Engine::values_of(std::int32_t runner, std::int64_t iteration) const {
  const Job& job = job_of(runner);
  if (!is_measured(job, iteration)) return nullptr;
  return job.values[std::size_t(runner - job.first_runner)] +
         std::size_t(iteration - job.warmup) * role_of(runner).form->values();
}

void Engine::advance(std::int32_t index, double now) {
  Position& position = positions_[std::size_t(index)];
  const Job& job = job_of(index);
  const Role& role = role_of(index);
  const std::int64_t time = nanoseconds(now);
  while (true) {
    if (position.action == 0 && !position.arrived) {
      position.values = values_of(index, position.iteration);
      if (position.values != nullptr) position.values[0] = time;
    }
    if (std::size_t(position.action) == role.actions.size()) {
      position.action = 0;
      if (++position.iteration == job.iterations && !job.repeats) {
        ++finished_;
        return;
      }
      if (position.iteration - job.iterations > most_repetitions) refuse_to_repeat(position.job, now);
      if (role.actions.empty() && job.repeats) return;  // nothing to repeat
      continue;
    }

    const Action& action = role.actions[std::size_t(position.action)];
    if (!position.arrived) {
      position.arrived = true;
      if (action.completion >= 0 && position.values != nullptr)
        position.values[role.actions.size() + 1 + std::size_t(action.completion)] = time;
      if (begin(index, action, now)) return;
    }
    if (must_wait(index, action)) return;
    if (pace_) {
      if (const double free = pace_->wake(index, now); free > now)
        return events_.add(free, EventKind::computed, index);
    }
    position.arrived = false;
    ++position.action;
    if (position.values != nullptr) position.values[position.action] = time;
    // One rank stands for all: in a step of synchronous training they are never far apart.
    if (index == 0)
      progress::report("simulated operations of rank 0",
                       std::int64_t(position.iteration) * std::int64_t(role.actions.size()) + position.action,
                       std::int64_t(job.iterations) * std::int64_t(role.actions.size()));
  }
}

void Engine::refuse_to_repeat(std::int32_t job, double now) const {
  throw UserError(
      "repeat",
      fmt::format("job {} has repeated its iteration {} times after {} of simulated time, and the "
                  "others are not done",
                  job + 1, most_repetitions, to_text(Seconds{now})),
      "let it compute or communicate something, or leave out `repeat`");
}

/// Issues an operation; true where an event of its own will end it.
bool Engine::begin(std::int32_t runner, const Action& action, double now) {
  const Position& position = positions_[std::size_t(runner)];
  switch (action.doing) {
    case Doing::compute:
      if (action.amount <= 0) return false;
      events_.add(pace_ ? pace_->begin(runner, positions_[std::size_t(runner)].iteration, now, action.amount)
                        : now + action.amount,
                  EventKind::computed, runner);
      return true;
    case Doing::collective:
      arrive(activity_of(position, action.line), number_of(position, action), now);
      return false;
    case Doing::send:
    case Doing::recv: {
      const std::int32_t index = activity_of(position, action.line);
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

/// Whether the runner cannot leave the action yet; it will be advanced again when what it waits for completes.
bool Engine::must_wait(std::int32_t index, const Action& action) {
  Position& position = positions_[std::size_t(index)];
  auto wait_for = [&](std::int32_t line, std::int64_t count) {
    const std::int32_t activity = activity_of(position, line);
    if (activities_[std::size_t(activity)].completed >= count) return false;
    position.waiting = activity;
    position.until = count;
    return true;
  };
  switch (action.doing) {
    case Doing::nothing:
    case Doing::compute: return false;
    case Doing::collective:
    case Doing::send:
    case Doing::recv:
      return action.blocking && !action.eager && wait_for(action.line, number_of(position, action) + 1);
    case Doing::wait: break;
  }
  const Role& role = *position.role;
  for (std::int32_t t = 0; t < action.targets; ++t) {
    const Target& target = role.targets[std::size_t(action.ordinal) + std::size_t(t)];
    const std::size_t each = role.lines[std::size_t(target.line)].actions.size();
    if (wait_for(target.line, std::int64_t(position.iteration) * std::int64_t(each) + target.count))
      return true;
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
  if (arrived < communicator.seats) return;
  arrived = 0;
  const Seat& seat = lines_.seats_of(communicator).front();
  const Role& role = role_of(seat.runner);
  const Line& line = role.lines[std::size_t(seat.line)];
  const std::size_t ordinal = std::size_t(activity.completed) % line.actions.size();
  const Action& action = role.actions[std::size_t(line.actions[ordinal])];
  if (activity.is_private && action.stretch > 0) return start_stretch(index, role, action, now);
  start(index, action, now);
}

void Engine::start_message(std::int32_t index, double now) {
  Activity& activity = activities_[std::size_t(index)];
  if (activity.sent <= activity.completed) return;
  const Role& role = role_of(activity.sender.runner);
  const Line& line = role.lines[std::size_t(activity.sender.line)];
  const std::size_t ordinal = std::size_t(activity.completed) % line.actions.size();
  const Action& action = role.actions[std::size_t(line.actions[ordinal])];
  if (!action.eager && activity.received <= activity.completed) return;
  start(index, action, now);
}

void Engine::start(std::int32_t index, const Action& action, double now) {
  Activity& activity = activities_[std::size_t(index)];
  activity.busy = true;
  if (action.doing == Doing::collective || !table_.goes_around.empty())
    activity.path = path_of(index, action.kind, action.amount);
  const Path& path = table_.paths[std::size_t(activity.path)];
  activity.bytes = action.amount * path.share;
  activity.what.kind = action.kind;
  activity.what.phase = action.phase;
  if (pace_) {
    pace_->started(index, now);
    communicate(index, activity.completed, 1, now);
  }
  events_.add(now + path.delay(action.amount), activity.bytes > 0 ? EventKind::started : EventKind::moved,
              index);
}

void Engine::complete(std::int32_t index, double now) {
  Activity& activity = activities_[std::size_t(index)];
  count_moved(index);
  const std::int64_t number = activity.completed + activity.skipped_operations;
  activity.completed = number + 1;
  activity.busy = false;
  if (pace_) communicate(index, number, -1, now);
  if (lines_.is_pair(index)) {
    complete_at(activity.sender, index, number, now);
    if (activity.received > number) complete_at(activity.receiver, index, number, now);
    return start_message(index, now);
  }
  for (const Seat& seat : lines_.seats_of(lines_.communicators[std::size_t(index)])) {
    positions_[std::size_t(seat.runner)].action += activity.skipped_actions;
    complete_at(seat, index, number, now);
  }
  activity.skipped_actions = activity.skipped_operations = 0;
  start_collective(index, now);
}

/// Tells one runner that its operation `number` on an activity has completed.
void Engine::complete_at(const Seat& seat, std::int32_t activity, std::int64_t number, double now) {
  Position& position = positions_[std::size_t(seat.runner)];
  const Role& role = *position.role;
  if (const Line& on = role.lines[std::size_t(seat.line)]; on.keeps_completions) {
    const std::int64_t each = std::int64_t(on.actions.size());
    const Action& action = role.actions[std::size_t(on.actions[std::size_t(number % each)])];
    std::int64_t* const values = action.completion >= 0 ? values_of(seat.runner, number / each) : nullptr;
    if (values != nullptr)
      values[role.actions.size() + 1 + std::size_t(action.completion)] = nanoseconds(now);
  }
  if (position.waiting != activity || position.until > number + 1) return;
  position.waiting = -1;
  ready_.push_back(seat.runner);
}

void Engine::report_deadlock() const {
  std::int32_t unfinished = 0, first = -1;
  for (std::size_t r = 0; r < positions_.size(); ++r) {
    if (positions_[r].iteration >= job_of(std::int32_t(r)).iterations) continue;
    unfinished += lines_.runners[r].size;
    if (first < 0) first = std::int32_t(r);
  }
  const Position& position = positions_[std::size_t(first)];
  const Action& action = role_of(first).actions[std::size_t(position.action)];
  const std::string message =
      fmt::format("{} of {} ranks never finish: rank {} waits in operation {} ({}) of iteration {}",
                  unfinished, lines_.runner_of.size(), lines_.runners[std::size_t(first)].first_rank,
                  position.action, name_of(action.kind), position.iteration);
  DLNB_REQUIRE(finished_ == awaited_, message);
  std::abort();
}

}  // namespace dlnb::sim
