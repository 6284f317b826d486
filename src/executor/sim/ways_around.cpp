// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/ways_around.hpp"

#include <algorithm>
#include <utility>

#include "executor/sim/paths.hpp"

namespace dlnb::sim {
namespace {

/// Of a link's capacity: rounding.
constexpr double nothing_taken = 1e-9;

bool are_equal(const Path& a, const Path& b) {
  return std::ranges::equal(
      a.uses, b.uses, [](const Use& x, const Use& y) { return x.link == y.link && x.weight == y.weight; });
}

/// What jobs take of the links of the network.
class Shares {
 public:
  Shares(const AllRuns& runs, const PathTable& table)
      : runs_(runs),
        table_(table),
        first_link_(runs.machine.first_network_link()),
        bytes_(table.paths.size()),
        iteration_(std::size_t(runs.job_of_runner.back()) + 1),
        taken_(std::size_t(runs.machine.links() - first_link_)) {
    count_bytes();
    measure_iterations();
  }

  /// What the path `p` of a job takes comes on top (+1) or is taken off (−1).
  void take(std::size_t job, std::size_t p, double sign) {
    if (iteration_[job] <= 0) return;
    for (const Use& use : table_.paths[p].uses)
      if (use.link >= first_link_)
        taken_[std::size_t(use.link - first_link_)] +=
            sign * use.weight * bytes_[p] / (runs_.capacities.of(use.link) * iteration_[job]);
  }
  bool meets(const Path& path) const {
    return std::ranges::any_of(path.uses, [&](const Use& use) {
      return use.link >= first_link_ && taken_[std::size_t(use.link - first_link_)] > nothing_taken;
    });
  }
  std::span<const double> taken() const { return taken_; }

 private:
  const Role& role_of(std::int32_t runner) const {
    return runs_.roles[std::size_t(runs_.lines.runners[std::size_t(runner)].role)];
  }

  void count_bytes() {
    for (std::size_t a = 0; a < runs_.lines.activities(); ++a) {
      const Seat seat = runs_.lines.first_seat(std::int32_t(a));
      const Role& role = role_of(seat.runner);
      for (const std::int32_t index : role.lines[std::size_t(seat.line)].actions) {
        const Action& action = role.actions[std::size_t(index)];
        const auto path = std::size_t(table_.path_of(a, action.kind, action.amount));
        bytes_[path] += action.amount * table_.paths[path].share;
      }
    }
  }

  void measure_iterations() {
    std::int32_t last = -1;
    for (std::size_t r = 0; r < runs_.lines.runners.size(); ++r) {
      const Runner& runner = runs_.lines.runners[r];
      if (runner.role == last) continue;  // ranks of one role do the same
      last = runner.role;
      double seconds = 0;
      for (const Action& action : role_of(std::int32_t(r)).actions) {
        if (action.doing == Doing::compute) seconds += action.amount;
        if (action.doing != Doing::collective || !action.blocking) continue;
        const auto activity = runs_.lines.activity_of_line[std::size_t(runner.first_line + action.line)];
        const std::int32_t path = table_.path_of(std::size_t(activity), action.kind, action.amount);
        seconds += table_.paths[std::size_t(path)].time(action.amount);
      }
      double& longest = iteration_[std::size_t(runs_.job_of_runner[r])];
      longest = std::max(longest, seconds);
    }
  }

  const AllRuns& runs_;
  const PathTable& table_;
  LinkIndex first_link_;
  std::vector<double> bytes_;      ///< of the reference flow in an iteration, by path
  std::vector<double> iteration_;  ///< seconds, by job
  std::vector<double> taken_;      ///< of the capacity
};

/// Puts every second path behind its first.
void insert(PathTable& table, std::vector<Path>& seconds, const std::vector<bool>& has_second) {
  std::vector<Path> all;
  std::vector<std::int32_t> place(table.paths.size());
  for (std::size_t a = 0; a + 1 < table.first_path.size(); ++a) {
    const auto begin = std::size_t(table.first_path[a]), end = std::size_t(table.first_path[a + 1]);
    table.first_path[a] = std::int32_t(all.size());
    for (std::size_t p = begin; p < end; ++p) {
      place[p] = std::int32_t(all.size()) - table.first_path[a];
      all.push_back(std::move(table.paths[p]));
      all.back().has_way_around = has_second[p];
      if (has_second[p]) all.push_back(std::move(seconds[p]));
    }
    for (auto k = std::size_t(table.first_known[a]); k < std::size_t(table.first_known[a + 1]); ++k)
      table.known[k].path = place[begin + std::size_t(table.known[k].path)];
  }
  table.first_path.back() = std::int32_t(all.size());
  table.paths = std::move(all);
}

}  // namespace

void add_ways_around(PathTable& table, const std::vector<Found>& found, const AllRuns& runs,
                     const Placement& placement) {
  std::vector<std::vector<std::int32_t>> activities_of_job(std::size_t(runs.job_of_runner.back()) + 1);
  for (std::size_t a = 0; a < runs.lines.activities(); ++a) {
    const std::int32_t runner = runs.lines.first_seat(std::int32_t(a)).runner;
    activities_of_job[std::size_t(runs.job_of_runner[std::size_t(runner)])].push_back(std::int32_t(a));
  }
  const auto for_paths_of = [&](std::size_t job, auto&& each) {
    for (const std::int32_t a : activities_of_job[job])
      for (std::int32_t p = table.first_path[std::size_t(a)]; p < table.first_path[std::size_t(a) + 1]; ++p)
        each(a, std::size_t(p));
  };

  Shares shares(runs, table);
  for (std::size_t job = 0; job < activities_of_job.size(); ++job)
    for_paths_of(job, [&](std::int32_t, std::size_t p) { shares.take(job, p, 1); });
  std::vector<Path> seconds(table.paths.size());
  std::vector<bool> has_second(table.paths.size()), goes_around(activities_of_job.size());
  for (std::size_t job = 0; job < activities_of_job.size(); ++job) {
    for_paths_of(job, [&](std::int32_t, std::size_t p) { shares.take(job, p, -1); });  // the others' are left
    bool meets = false;
    for_paths_of(job, [&](std::int32_t, std::size_t p) {
      has_second[p] = shares.meets(table.paths[p]);
      meets = meets || has_second[p];
    });
    if (meets) {
      Paths paths(runs.machine, placement, runs.capacities);
      paths.give_way_to(shares.taken());
      for_paths_of(job, [&](std::int32_t a, std::size_t p) {
        const auto number = std::int32_t(job);
        seconds[p] = runs.lines.is_pair(a)
                         ? paths.message(runs.lines.pair(a).sender, runs.lines.pair(a).receiver, number)
                         : paths.collective(found[p].kind,
                                            runs.lines.members_of(runs.lines.communicators[std::size_t(a)]),
                                            found[p].choice, number);
        seconds[p].never_faster_than(table.paths[p]);
        has_second[p] = has_second[p] && !are_equal(seconds[p], table.paths[p]);
        if (has_second[p]) goes_around[job] = true;
      });
    }
    for_paths_of(job, [&](std::int32_t, std::size_t p) { shares.take(job, p, 1); });
  }
  if (std::ranges::find(goes_around, true) == goes_around.end()) return;
  table.goes_around = std::move(goes_around);
  insert(table, seconds, has_second);
}

}  // namespace dlnb::sim
