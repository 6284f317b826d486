// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <dlnb/schedule.hpp>

#include "executor/sim/program.hpp"

namespace dlnb::sim {

/// Ranks that do the same at the same time for the whole run: one role, the same communicators, no messages.
struct Runner {
  std::int32_t role = 0;
  std::int32_t first_rank = 0;  ///< the lowest of them
  std::int32_t size = 0;
  std::int32_t first_line = 0;  ///< into activity_of_line
};

/// A runner in a communicator, and which of its role's lines that is.
struct Seat {
  std::int32_t runner = 0;
  std::int32_t line = 0;
};

/// The ranks of one collective, ascending.
struct Communicator {
  std::int32_t first_member = 0, size = 0;
  std::int32_t first_seat = 0, seats = 0;
  AxisSet axes = 0;
};

/// Messages from one rank to another along one axis.
struct Pair {
  std::int32_t sender = -1, receiver = -1;         ///< ranks
  std::int32_t send_line = -1, receive_line = -1;  ///< in their roles; -1 until found
};

/// Which communicators and pairs there are, and which of them a line of a runner is.
/// An activity is a communicator or, numbered after them, a pair: it does one operation at a time.
struct Lines {
  std::vector<Runner> runners;
  std::vector<std::int32_t> runner_of;  ///< by rank
  std::vector<std::int32_t> activity_of_line;
  std::vector<Communicator> communicators;
  std::vector<std::int32_t> members;  ///< of all communicators
  std::vector<Seat> seats;            ///< of all communicators
  std::vector<Pair> pairs;

  std::size_t activities() const { return communicators.size() + pairs.size(); }
  bool is_pair(std::int32_t activity) const { return std::size_t(activity) >= communicators.size(); }
  const Pair& pair(std::int32_t activity) const {
    return pairs[std::size_t(activity) - communicators.size()];
  }
  /// Of a pair the sender's.
  Seat first_seat(std::int32_t activity) const {
    if (!is_pair(activity)) return seats_of(communicators[std::size_t(activity)]).front();
    return {runner_of[std::size_t(pair(activity).sender)], pair(activity).send_line};
  }
  std::int32_t activity(std::int32_t runner, std::int32_t line) const {
    return activity_of_line[std::size_t(runners[std::size_t(runner)].first_line + line)];
  }
  std::span<const std::int32_t> members_of(const Communicator& c) const {
    return std::span(members).subspan(std::size_t(c.first_member), std::size_t(c.size));
  }
  std::span<const Seat> seats_of(const Communicator& c) const {
    return std::span(seats).subspan(std::size_t(c.first_seat), std::size_t(c.seats));
  }
};

/// `apart`: every rank is a runner of its own, where noise tells them apart.
Lines connect(const Schedule& schedule, const std::vector<Role>& roles, bool apart = false);

/// The lines of several jobs side by side: ranks, runners, roles, communicators and pairs are numbered on. `roles` is how many
/// each job has.
Lines side_by_side(const std::vector<Lines>& jobs, const std::vector<std::size_t>& roles);

}  // namespace dlnb::sim
