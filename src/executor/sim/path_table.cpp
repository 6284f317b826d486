// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/path_table.hpp"

#include <algorithm>
#include <utility>

#include <dlnb/error.hpp>

#include "executor/sim/events.hpp"
#include "executor/sim/paths.hpp"
#include "executor/sim/ways_around.hpp"

namespace dlnb::sim {
namespace {

/// Where several ways are left to choose from, that of the shortest time on an idle machine is taken.
void find_paths_of(const Communicator& communicator, const std::vector<Role>& roles, const Lines& lines,
                   std::span<const std::int32_t> job_of_runner, Paths& paths, PathTable& table,
                   std::vector<Found>& found) {
  struct Tried {
    OperationKind kind;
    Choice choice;
    Path path;                ///< until it is taken for some size
    std::int32_t taken = -1;  ///< in the table, from its first on
  };
  std::vector<Tried> tried;
  const auto known = table.known.size(), first = table.paths.size();
  const Seat& seat = lines.seats_of(communicator).front();
  const Role& role = roles[std::size_t(lines.runners[std::size_t(seat.runner)].role)];
  const auto ranks = lines.members_of(communicator);
  for (const std::int32_t index : role.lines[std::size_t(seat.line)].actions) {
    const Action& action = role.actions[std::size_t(index)];
    if (std::any_of(
            table.known.begin() + std::ptrdiff_t(known), table.known.end(),
            [&](const PathTable::Known& k) { return k.kind == action.kind && k.bytes == action.amount; }))
      continue;
    std::size_t best = 0;
    double shortest = never;
    for (const Choice& choice : paths.choices(action.kind, ranks, action.amount)) {
      std::size_t t = 0;
      while (t < tried.size() && !(tried[t].kind == action.kind && tried[t].choice == choice)) ++t;
      if (t == tried.size())
        tried.push_back(
            {action.kind, choice,
             paths.collective(action.kind, ranks, choice, job_of_runner[std::size_t(seat.runner)])});
      const Path& path =
          tried[t].taken < 0 ? tried[t].path : table.paths[first + std::size_t(tried[t].taken)];
      // Times that differ by rounding only are equal: the first choice.
      if (const double time = path.time(action.amount); time < shortest * (1 - 1e-9))
        best = t, shortest = time;
    }
    if (tried[best].taken < 0) {
      tried[best].taken = std::int32_t(table.paths.size() - first);
      table.paths.push_back(std::move(tried[best].path));
      found.push_back({tried[best].kind, tried[best].choice});
    }
    table.known.push_back({action.kind, action.amount, tried[best].taken});
  }
}

}  // namespace

std::int32_t PathTable::path_of(std::size_t activity, OperationKind kind, double bytes) const {
  std::int32_t k = first_known[activity];
  while (kind != OperationKind::send &&
         !(known[std::size_t(k)].kind == kind && known[std::size_t(k)].bytes == bytes))
    ++k;
  DLNB_REQUIRE(k < first_known[activity + 1], "every operation has a path");
  return first_path[activity] + known[std::size_t(k)].path;
}

PathTable find_paths(const std::vector<Role>& roles, const Lines& lines,
                     std::span<const std::int32_t> job_of_runner, const Machine& machine,
                     const Placement& placement, const Capacities& capacities) {
  PathTable table;
  std::vector<Found> found;
  Paths paths(machine, placement, capacities);
  const auto next_activity = [&] {
    table.first_path.push_back(std::int32_t(table.paths.size()));
    table.first_known.push_back(std::int32_t(table.known.size()));
  };
  table.paths.reserve(lines.activities());
  for (const Communicator& communicator : lines.communicators) {
    next_activity();
    find_paths_of(communicator, roles, lines, job_of_runner, paths, table, found);
  }
  for (const Pair& pair : lines.pairs) {
    next_activity();
    table.known.push_back({});
    const std::int32_t runner = lines.runner_of[std::size_t(pair.sender)];
    table.paths.push_back(paths.message(pair.sender, pair.receiver, job_of_runner[std::size_t(runner)]));
  }
  next_activity();
  found.resize(table.paths.size());  // pairs
  if (job_of_runner.back() > 0 && machine.routing == Routing::adaptive && machine.network)
    add_ways_around(table, found, {roles, lines, job_of_runner, machine, capacities}, placement);
  return table;
}

}  // namespace dlnb::sim
