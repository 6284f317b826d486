// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/pace.hpp"

#include <algorithm>
#include <set>

namespace dlnb::sim {

Pace::Pace(const Lines& lines, const std::vector<const Disturbance*>& disturbances,
           std::vector<std::int32_t> job_of_runner, const Machine& machine, const Placement& placement)
    : disturbances_(disturbances),
      job_of_runner_(std::move(job_of_runner)),
      sleeps_(lines.runners.size()),
      collectives_(lines.activities()) {
  for (std::size_t r = 0; r < sleeps_.size(); ++r) {
    const RankNoise* noise = of(std::int32_t(r)).noise.ranks.get();
    if (noise == nullptr) continue;
    // A device's own, whoever computes on it: a neighbour changes nobody's noise.
    const int device = placement[std::size_t(lines.runners[r].first_rank)];
    sleeps_[r].noise.stream = std::uint64_t(noise->is_of_nodes() ? machine.node_of(device) : device);
    noise->start(sleeps_[r].noise);
    sleeps_[r].ahead = sleeps_[r].noise;
  }
  for (std::size_t a = 0; a < lines.communicators.size(); ++a) {
    const auto ranks = lines.members_of(lines.communicators[a]);
    std::set<int> nodes;
    for (const std::int32_t rank : ranks) nodes.insert(machine.node_of(placement[std::size_t(rank)]));
    collectives_[a].nodes = int(nodes.size());
    collectives_[a].noise.stream =
        mixed(std::uint64_t(placement[std::size_t(ranks.front())]), lines.communicators[a].axes);
  }
}

double Pace::wake(std::int32_t runner, double at) {
  const RankNoise* noise = of(runner).noise.ranks.get();
  if (noise == nullptr) return at;
  Sleep& sleep = sleeps_[std::size_t(runner)];
  const double free = snap(noise->free(sleep.noise, at));
  if (free > at) sleep.due = free;
  return free;
}

double Pace::first(std::int32_t runner, double at) {
  const double begins = snap(wake(runner, at));
  if (begins > 0) sleeps_[std::size_t(runner)].due = begins;
  return begins;
}

double Pace::begin(std::int32_t runner, std::int64_t iteration, double now, double work) {
  const Disturbance& disturbance = of(runner);
  Sleep& sleep = sleeps_[std::size_t(runner)];
  sleep.computes = true;
  sleep.since = now;
  sleep.left = work;
  sleep.speed = sleep.in_flight > 0 ? 1 / disturbance.overlap_slowdown : 1;
  if (disturbance.noise.ranks) disturbance.noise.ranks->begin(sleep.noise, iteration);
  look_ahead(sleep, disturbance);
  return sleep.due;
}

void Pace::look_ahead(Sleep& sleep, const Disturbance& disturbance) {
  const double work = sleep.left / sleep.speed;
  sleep.ahead = sleep.noise;
  sleep.due = snap(disturbance.noise.ranks ? disturbance.noise.ranks->done(sleep.ahead, sleep.since, work)
                                           : sleep.since + work);
}

bool Pace::is_due(std::int32_t runner, double at) {
  Sleep& sleep = sleeps_[std::size_t(runner)];
  if (sleep.due != at) return false;
  if (sleep.computes) sleep.noise = sleep.ahead;
  sleep.computes = false;
  sleep.due = never;
  return true;
}

void Pace::communicate(std::int32_t runner, int more, double now, Events& events) {
  Sleep& sleep = sleeps_[std::size_t(runner)];
  const Disturbance& disturbance = of(runner);
  sleep.in_flight += more;
  const double speed = sleep.in_flight > 0 ? 1 / disturbance.overlap_slowdown : 1;
  if (!sleep.computes || speed == sleep.speed) return;
  const double done = disturbance.noise.ranks ? disturbance.noise.ranks->worked(sleep.noise, sleep.since, now)
                                              : now - sleep.since;
  sleep.left = std::max(0.0, sleep.left - done * sleep.speed);
  sleep.since = now;
  sleep.speed = speed;
  const double before = sleep.due;
  look_ahead(sleep, disturbance);
  if (sleep.due != before) events.add(sleep.due, EventKind::computed, runner);
}

double Pace::completion(std::int32_t activity, std::int64_t number, std::int32_t job, double now) {
  const CollectiveNoise* noise = of_job(job).noise.collectives.get();
  Operation& operation = collectives_[std::size_t(activity)];
  if (noise == nullptr || operation.held) {
    operation.held = false;
    return now;
  }
  const double longer =
      noise->longer(operation.noise, {number, operation.nodes, operation.began, now - operation.began});
  const double until = snap(now + longer);
  operation.held = until > now;
  return operation.held ? until : now;
}

}  // namespace dlnb::sim
