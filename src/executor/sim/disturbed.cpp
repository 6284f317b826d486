// SPDX-License-Identifier: Apache-2.0
// What the engine asks of Pace where a job is disturbed.
#include "executor/sim/engine.hpp"

namespace dlnb::sim {

void Engine::follow_disturbances(const Machine& machine, const Placement& placement) {
  static const Disturbance none;
  std::vector<const Disturbance*> disturbances;
  bool any = false;
  for (const Job& job : jobs_) {
    disturbances.push_back(job.disturbance != nullptr ? job.disturbance : &none);
    any = any || !disturbances.back()->is_none();
  }
  if (!any) return;
  std::vector<std::int32_t> jobs_of_runners;
  for (const Position& position : positions_) jobs_of_runners.push_back(position.job);
  pace_.emplace(lines_, disturbances, std::move(jobs_of_runners), machine, placement);
}

void Engine::moved(std::int32_t index, double now) {
  if (pace_ && !lines_.is_pair(index)) {
    const Activity& activity = activities_[std::size_t(index)];
    // A stretch has everything in it already; jobs that are disturbed have none.
    if (activity.skipped_actions == 0) {
      const double until = pace_->completion(index, activity.completed, activity.what.job, now);
      if (until > now) return events_.add(until, EventKind::moved, index);
    }
  }
  complete(index, now);
}

void Engine::communicate(std::int32_t index, std::int64_t number, int more, double now) {
  if (!pace_ || !pace_->slows_down(activities_[std::size_t(index)].what.job)) return;
  const auto one = [&](std::int32_t runner, std::int32_t line) {
    const Role& role = role_of(runner);
    const std::vector<std::int32_t>& actions = role.lines[std::size_t(line)].actions;
    const Action& action = role.actions[std::size_t(actions[std::size_t(number) % actions.size()])];
    if (!action.blocking) pace_->communicate(runner, more, now, events_);
  };
  if (lines_.is_pair(index)) {
    const Pair& pair = lines_.pair(index);
    one(lines_.runner_of[std::size_t(pair.sender)], pair.send_line);
    one(lines_.runner_of[std::size_t(pair.receiver)], pair.receive_line);
    return;
  }
  for (const Seat& seat : lines_.seats_of(lines_.communicators[std::size_t(index)]))
    one(seat.runner, seat.line);
}

}  // namespace dlnb::sim
