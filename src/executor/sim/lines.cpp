// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/lines.hpp"

#include <map>
#include <tuple>
#include <unordered_map>

#include <dlnb/error.hpp>

namespace dlnb::sim {
namespace {

std::int32_t only_axis(AxisSet axes) {
  std::int32_t axis = 0;
  while (!(axes >> axis & 1)) ++axis;
  return axis;
}

/// The smallest rank of a group stands for it.
std::int64_t base_of(const ProcessGrid& grid, std::int64_t rank, AxisSet axes) {
  for (std::size_t axis = 0; axis < grid.axes().size(); ++axis)
    if (axes >> axis & 1) rank = grid.with_coordinate(rank, int(axis), 0);
  return rank;
}

void connect_communicators(const ProcessGrid& grid, const std::vector<Role>& roles, Lines& lines) {
  std::map<AxisSet, std::unordered_map<std::int64_t, std::int32_t>> known;
  for (std::size_t rank = 0; rank < lines.role_of.size(); ++rank) {
    const Role& role = roles[std::size_t(lines.role_of[rank])];
    for (std::size_t l = 0; l < role.lines.size(); ++l) {
      const Line& line = role.lines[l];
      if (line.doing != Doing::collective) continue;
      const auto [entry, fresh] = known[line.axes].try_emplace(base_of(grid, std::int64_t(rank), line.axes),
                                                               std::int32_t(lines.communicators.size()));
      if (fresh) {
        const Group group = grid.group(std::int64_t(rank), line.axes);
        const std::int64_t size = group.size();
        lines.communicators.push_back({std::int32_t(lines.members.size()), std::int32_t(size), line.axes});
        for (std::int64_t i = 0; i < size; ++i) lines.members.push_back(std::int32_t(group.rank(i)));
      }
      lines.activity_of_line[std::size_t(lines.first_line[rank]) + l] = entry->second;
    }
  }
}

void connect_pairs(const ProcessGrid& grid, const std::vector<Role>& roles, Lines& lines) {
  std::map<std::tuple<AxisSet, std::int64_t, std::int64_t>, std::int32_t> known;
  for (std::size_t rank = 0; rank < lines.role_of.size(); ++rank) {
    const Role& role = roles[std::size_t(lines.role_of[rank])];
    for (std::size_t l = 0; l < role.lines.size(); ++l) {
      const Line& line = role.lines[l];
      if (line.doing == Doing::collective) continue;
      const bool sends = line.doing == Doing::send;
      const std::int64_t peer = grid.with_coordinate(std::int64_t(rank), only_axis(line.axes), line.peer);
      const std::int64_t sender = sends ? std::int64_t(rank) : peer,
                         receiver = sends ? peer : std::int64_t(rank);
      const auto [entry, fresh] =
          known.try_emplace({line.axes, sender, receiver}, std::int32_t(lines.pairs.size()));
      if (fresh) lines.pairs.push_back({std::int32_t(sender), std::int32_t(receiver), -1, -1});
      Pair& pair = lines.pairs[std::size_t(entry->second)];
      (sends ? pair.send_line : pair.receive_line) = std::int32_t(l);
      lines.activity_of_line[std::size_t(lines.first_line[rank]) + l] =
          std::int32_t(lines.communicators.size()) + entry->second;
    }
  }
}

}  // namespace

Lines connect(const Schedule& schedule, const std::vector<Role>& roles) {
  Lines lines;
  std::int32_t total = 0;
  for (std::int64_t rank = 0; rank < schedule.grid.ranks(); ++rank) {
    const std::int32_t role = std::int32_t(schedule.role_of(rank));
    DLNB_REQUIRE(std::size_t(role) < roles.size(), "every role has a program");
    lines.role_of.push_back(role);
    lines.first_line.push_back(total);
    total += std::int32_t(roles[std::size_t(role)].lines.size());
  }
  lines.activity_of_line.resize(std::size_t(total));
  connect_communicators(schedule.grid, roles, lines);
  connect_pairs(schedule.grid, roles, lines);
  return lines;
}

Lines side_by_side(const std::vector<Lines>& jobs, const std::vector<std::size_t>& roles) {
  if (jobs.size() == 1) return jobs.front();
  Lines all;
  std::size_t communicators = 0, first_role = 0;
  for (const Lines& job : jobs) communicators += job.communicators.size();
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Lines& job = jobs[j];
    const auto first_rank = std::int32_t(all.role_of.size()),
               first_line = std::int32_t(all.activity_of_line.size()),
               first_member = std::int32_t(all.members.size());
    const std::size_t first_communicator = all.communicators.size(), first_pair = all.pairs.size();
    for (const std::int32_t role : job.role_of) all.role_of.push_back(role + std::int32_t(first_role));
    for (const std::int32_t line : job.first_line) all.first_line.push_back(line + first_line);
    for (const std::int32_t activity : job.activity_of_line) {
      const std::size_t pair = std::size_t(activity) - job.communicators.size();
      all.activity_of_line.push_back(std::int32_t(job.is_pair(activity)
                                                      ? communicators + first_pair + pair
                                                      : first_communicator + std::size_t(activity)));
    }
    for (Communicator communicator : job.communicators) {
      communicator.first_member += first_member;
      all.communicators.push_back(communicator);
    }
    for (const std::int32_t member : job.members) all.members.push_back(member + first_rank);
    for (Pair pair : job.pairs) {
      pair.sender += first_rank, pair.receiver += first_rank;
      all.pairs.push_back(pair);
    }
    first_role += roles[j];
  }
  return all;
}

}  // namespace dlnb::sim
