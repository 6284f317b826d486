// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/lines.hpp"

#include <algorithm>
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

/// Which activity every line of every rank is, before ranks are taken together.
struct RankLines {
  std::vector<std::int32_t> role;   ///< by rank
  std::vector<std::int32_t> first;  ///< by rank, into activity; one more than ranks
  std::vector<std::int32_t> activity;

  std::span<const std::int32_t> of(std::size_t rank) const {
    return std::span(activity).subspan(std::size_t(first[rank]), std::size_t(first[rank + 1] - first[rank]));
  }
};

void connect_communicators(const ProcessGrid& grid, const std::vector<Role>& roles, RankLines& ranks,
                           Lines& lines) {
  std::map<AxisSet, std::vector<std::int32_t>> known;  // by rank; -1: not met before
  for (std::size_t rank = 0; rank < ranks.role.size(); ++rank) {
    const Role& role = roles[std::size_t(ranks.role[rank])];
    for (std::size_t l = 0; l < role.lines.size(); ++l) {
      const Line& line = role.lines[l];
      if (line.doing != Doing::collective) continue;
      std::vector<std::int32_t>& of_rank = known[line.axes];
      if (of_rank.empty()) of_rank.assign(ranks.role.size(), -1);
      if (of_rank[rank] < 0) {
        const Group group = grid.group(std::int64_t(rank), line.axes);
        const std::int64_t size = group.size();
        for (std::int64_t i = 0; i < size; ++i) {
          lines.members.push_back(std::int32_t(group.rank(i)));
          of_rank[std::size_t(lines.members.back())] = std::int32_t(lines.communicators.size());
        }
        lines.communicators.push_back({.first_member = std::int32_t(lines.members.size() - std::size_t(size)),
                                       .size = std::int32_t(size),
                                       .axes = line.axes});
      }
      ranks.activity[std::size_t(ranks.first[rank]) + l] = of_rank[rank];
    }
  }
}

void connect_pairs(const ProcessGrid& grid, const std::vector<Role>& roles, RankLines& ranks, Lines& lines) {
  std::map<std::tuple<AxisSet, std::int64_t, std::int64_t>, std::int32_t> known;
  for (std::size_t rank = 0; rank < ranks.role.size(); ++rank) {
    const Role& role = roles[std::size_t(ranks.role[rank])];
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
      ranks.activity[std::size_t(ranks.first[rank]) + l] =
          std::int32_t(lines.communicators.size()) + entry->second;
    }
  }
}

/// Finds the ranks that go in step. Beside the rank before it, one is held against the first with its role whose first line
/// is the same communicator.
void take_together(const RankLines& ranks, bool apart, Lines& lines) {
  std::unordered_map<std::int64_t, std::int32_t> known;  // by role and first activity
  const auto is_message = [&](std::int32_t activity) { return lines.is_pair(activity); };
  lines.runner_of.reserve(ranks.role.size());
  for (std::size_t rank = 0; rank < ranks.role.size(); ++rank) {
    const auto own = ranks.of(rank);
    const auto is_in_step_with = [&](std::int32_t index) {
      const Runner& runner = lines.runners[std::size_t(index)];
      return runner.role == ranks.role[rank] &&
             std::ranges::equal(own, ranks.of(std::size_t(runner.first_rank)));
    };
    if (!apart && std::ranges::none_of(own, is_message)) {
      std::int32_t like = rank > 0 ? lines.runner_of.back() : -1;
      if (like < 0 || !is_in_step_with(like)) {
        const std::int64_t key =
            std::int64_t{ranks.role[rank]} << 32 | (own.empty() ? 0xffffffff : std::int64_t{own.front()});
        const auto [entry, fresh] = known.try_emplace(key, std::int32_t(lines.runners.size()));
        like = !fresh && is_in_step_with(entry->second) ? entry->second : -1;
      }
      if (like >= 0) {
        ++lines.runners[std::size_t(like)].size;
        lines.runner_of.push_back(like);
        continue;
      }
    }
    lines.runner_of.push_back(std::int32_t(lines.runners.size()));
    lines.runners.push_back({.role = ranks.role[rank],
                             .first_rank = std::int32_t(rank),
                             .size = 1,
                             .first_line = std::int32_t(lines.activity_of_line.size())});
    lines.activity_of_line.insert(lines.activity_of_line.end(), own.begin(), own.end());
  }
}

void seat(const std::vector<Role>& roles, Lines& lines) {
  for (Communicator& communicator : lines.communicators) {
    communicator.first_seat = std::int32_t(lines.seats.size());
    for (const std::int32_t rank : lines.members_of(communicator)) {
      const std::int32_t index = lines.runner_of[std::size_t(rank)];
      const Runner& runner = lines.runners[std::size_t(index)];
      // All ranks of a runner are in it: the lowest says where.
      if (runner.first_rank == rank)
        lines.seats.push_back({index, roles[std::size_t(runner.role)].line_over(communicator.axes)});
    }
    communicator.seats = std::int32_t(lines.seats.size()) - communicator.first_seat;
  }
}

}  // namespace

Lines connect(const Schedule& schedule, const std::vector<Role>& roles, bool apart) {
  RankLines ranks;
  ranks.role.reserve(std::size_t(schedule.grid.ranks()));
  ranks.first.reserve(std::size_t(schedule.grid.ranks()) + 1);
  ranks.first.push_back(0);
  for (std::int64_t rank = 0; rank < schedule.grid.ranks(); ++rank) {
    const std::int32_t role = std::int32_t(schedule.role_of(rank));
    DLNB_REQUIRE(std::size_t(role) < roles.size(), "every role has a program");
    ranks.role.push_back(role);
    ranks.first.push_back(ranks.first.back() + std::int32_t(roles[std::size_t(role)].lines.size()));
  }
  ranks.activity.resize(std::size_t(ranks.first.back()));
  Lines lines;
  connect_communicators(schedule.grid, roles, ranks, lines);
  connect_pairs(schedule.grid, roles, ranks, lines);
  take_together(ranks, apart, lines);
  seat(roles, lines);
  return lines;
}

Lines side_by_side(const std::vector<Lines>& jobs, const std::vector<std::size_t>& roles) {
  if (jobs.size() == 1) return jobs.front();
  Lines all;
  std::size_t communicators = 0, first_role = 0;
  for (const Lines& job : jobs) communicators += job.communicators.size();
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Lines& job = jobs[j];
    const auto first_rank = std::int32_t(all.runner_of.size()),
               first_runner = std::int32_t(all.runners.size()),
               first_line = std::int32_t(all.activity_of_line.size()),
               first_member = std::int32_t(all.members.size()), first_seat = std::int32_t(all.seats.size());
    const std::size_t first_communicator = all.communicators.size(), first_pair = all.pairs.size();
    for (Runner runner : job.runners) {
      runner.role += std::int32_t(first_role);
      runner.first_rank += first_rank, runner.first_line += first_line;
      all.runners.push_back(runner);
    }
    for (const std::int32_t runner : job.runner_of) all.runner_of.push_back(runner + first_runner);
    for (const std::int32_t activity : job.activity_of_line) {
      const std::size_t pair = std::size_t(activity) - job.communicators.size();
      all.activity_of_line.push_back(std::int32_t(job.is_pair(activity)
                                                      ? communicators + first_pair + pair
                                                      : first_communicator + std::size_t(activity)));
    }
    for (Communicator communicator : job.communicators) {
      communicator.first_member += first_member, communicator.first_seat += first_seat;
      all.communicators.push_back(communicator);
    }
    for (const std::int32_t member : job.members) all.members.push_back(member + first_rank);
    for (const Seat& seat : job.seats) all.seats.push_back({seat.runner + first_runner, seat.line});
    for (Pair pair : job.pairs) {
      pair.sender += first_rank, pair.receiver += first_rank;
      all.pairs.push_back(pair);
    }
    first_role += roles[j];
  }
  return all;
}

}  // namespace dlnb::sim
