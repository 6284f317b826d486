// SPDX-License-Identifier: Apache-2.0
// A stretch: blocking collectives over one communicator with nothing but computing between them, as the tensor-parallel
// ranks of a stage have hundreds of. Where its links are private and all members have one role, they leave the first
// collective together and stay together, so that the whole stretch is worked out at once; times are those that event by
// event would give, to the bit.
#include <algorithm>

#include "executor/sim/engine.hpp"

namespace dlnb::sim {

void Engine::find_private_activities() {
  for (std::size_t a = 0; a < lines_.communicators.size(); ++a) {
    const auto seats = lines_.seats_of(lines_.communicators[a]);
    const auto role = [&](const Seat& seat) { return lines_.runners[std::size_t(seat.runner)].role; };
    bool is_private =
        std::ranges::all_of(seats, [&](const Seat& seat) { return role(seat) == role(seats.front()); });
    // Between the collectives of a stretch ranks would compute at their own pace.
    is_private = is_private && !(pace_ && pace_->disturbs(positions_[std::size_t(seats.front().runner)].job));
    for (std::int32_t p = table_.first_path[a]; p < table_.first_path[a + 1]; ++p)
      is_private = is_private && !flows_.is_contended(p);
    activities_[a].is_private = is_private;
  }
}

void Engine::start_stretch(std::int32_t index, const Role& role, const Action& first, double now) {
  Activity& activity = activities_[std::size_t(index)];
  const auto seats = lines_.seats_of(lines_.communicators[std::size_t(index)]);
  const std::int32_t begin = std::int32_t(&first - role.actions.data());
  // They are at one operation of one iteration; each has arrived at it in its own time.
  std::int64_t* const values = positions_[std::size_t(seats.front().runner)].values;

  double at = now;
  for (std::int32_t i = 0; i <= first.stretch; ++i) {
    const Action& action = role.actions[std::size_t(begin + i)];
    if (action.doing == Doing::compute) {
      if (action.amount > 0) at = snap(at + action.amount);
    } else if (action.doing == Doing::collective) {
      const Path& path = table_.paths[std::size_t(path_of(index, action.kind, action.amount))];
      const double bytes = action.amount * path.share;
      at = snap(at + path.delay(action.amount));
      if (bytes > 0) at = snap(at + bytes / path.alone);
      activity.skipped_operations += i > 0 ? 1 : 0;
    }
    if (values != nullptr) values[begin + i + 1] = nanoseconds(at);
  }
  if (values != nullptr)
    for (const Seat& seat : seats.subspan(1))
      std::copy_n(values + begin + 1, first.stretch + 1,
                  positions_[std::size_t(seat.runner)].values + begin + 1);
  activity.busy = true;
  activity.since = now;
  activity.skipped_actions = first.stretch;
  events_.add(at, EventKind::moved, index);
}

void Engine::count_moved(std::int32_t index) {
  const Activity& activity = activities_[std::size_t(index)];
  if (activity.skipped_actions == 0) {
    moved_[std::size_t(activity.path)] += activity.bytes;
    return;
  }
  add_stretch(index, never, moved_);
}

void Engine::add_stretch(std::int32_t index, double until, std::vector<double>& moved) const {
  const Activity& activity = activities_[std::size_t(index)];
  const Seat& seat = lines_.seats_of(lines_.communicators[std::size_t(index)]).front();
  const Role& role = role_of(seat.runner);
  const std::int32_t first = positions_[std::size_t(seat.runner)].action;
  double at = activity.since;
  for (std::int32_t i = 0; i <= activity.skipped_actions && at < until; ++i) {
    const Action& action = role.actions[std::size_t(first + i)];
    if (action.doing == Doing::compute) at += std::max(0.0, action.amount);
    if (action.doing != Doing::collective) continue;
    const std::int32_t taken = path_of(index, action.kind, action.amount);
    const Path& path = table_.paths[std::size_t(taken)];
    const double bytes = action.amount * path.share;
    at += path.delay(action.amount);
    if (bytes <= 0) continue;
    const double duration = bytes / path.alone;
    moved[std::size_t(taken)] += bytes * std::clamp((until - at) / duration, 0.0, 1.0);
    at += duration;
  }
}

}  // namespace dlnb::sim
