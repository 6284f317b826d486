// SPDX-License-Identifier: Apache-2.0
// The n-th operation of a kind on the same axes belongs with the n-th on every other member; the n-th send of
// an ordered pair with the n-th receive. Ranks of a role share a program, so all of this is per role.
#include "analysis/matching.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

bool spans_roles(const Schedule& schedule, AxisSet axes) {
  return schedule.role_axis >= 0 && (axes >> schedule.role_axis & 1);
}

CollectiveChannel make_channel(const Schedule& schedule, const Operation& operation) {
  CollectiveChannel channel{operation.kind, operation.axes, 0, 0, {}};
  const std::int64_t ranks = schedule.grid.ranks();
  channel.group_of.assign(std::size_t(ranks), nothing);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto base = std::size_t(schedule.grid.group(rank, operation.axes).base);
    if (std::int64_t(base) == rank) channel.group_of[base] = std::int32_t(channel.groups++);
    // The base is the lowest rank of its group, so it has its number already.
    channel.group_of[std::size_t(rank)] = channel.group_of[base];
  }
  return channel;
}

void match_collectives(Matching& matching) {
  std::map<std::pair<OperationKind, AxisSet>, std::int32_t> channel_of;
  std::vector<std::vector<std::int64_t>> counts;  // [channel][role]
  const std::size_t roles = matching.programs.size();
  for (std::size_t role = 0; role < roles; ++role) {
    MatchedProgram& program = matching.programs[role];
    std::map<std::int32_t, std::vector<OperationIndex>> of_channel;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
      const Operation& operation = program.operations[i];
      if (!is_collective(operation.kind)) continue;
      const auto [place, is_new] =
          channel_of.try_emplace({operation.kind, operation.axes}, std::int32_t(matching.channels.size()));
      if (is_new) {
        matching.channels.push_back(make_channel(*matching.schedule, operation));
        counts.emplace_back(roles);
      }
      of_channel[place->second].push_back(OperationIndex(i));
    }
    for (auto& [channel, operations] : of_channel) {
      counts[std::size_t(channel)][role] = std::int64_t(operations.size());
      program.collectives.push_back({channel, std::move(operations)});
    }
  }
  for (std::size_t c = 0; c < counts.size(); ++c) {
    const auto [fewest, most] = std::minmax_element(counts[c].begin(), counts[c].end());
    DLNB_REQUIRE(*fewest == *most || !spans_roles(*matching.schedule, matching.channels[c].axes),
                 std::string("members of a group differ in how many ") + name_of(matching.channels[c].kind) +
                     " they issue over " + matching.schedule->grid.text(matching.channels[c].axes));
    matching.channels[c].stride = *most;
  }
}

// Per role: (kind, axes, peer) → the operations in order.
using Messages = std::map<std::tuple<OperationKind, AxisSet, std::int32_t>, std::vector<OperationIndex>>;

Messages messages_of(const MatchedProgram& program) {
  Messages messages;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    if (is_message(operation.kind))
      messages[{operation.kind, operation.axes, operation.peer}].push_back(OperationIndex(i));
  }
  return messages;
}

void match_messages(Matching& matching) {
  const Schedule& schedule = *matching.schedule;
  std::vector<Messages> messages;
  for (const MatchedProgram& program : matching.programs) messages.push_back(messages_of(program));

  for (std::size_t role = 0; role < matching.programs.size(); ++role) {
    MatchedProgram& program = matching.programs[role];
    for (const auto& [key, own] : messages[role]) {
      const auto& [kind, axes, peer] = key;
      const int axis = std::countr_zero(axes);
      const bool between_roles = axis == schedule.role_axis;
      const std::size_t other_role = between_roles ? std::size_t(peer) : role;
      const auto other_kind = kind == OperationKind::send ? OperationKind::recv : OperationKind::send;
      const auto coordinates = std::int32_t(schedule.grid.axes()[std::size_t(axis)].size);
      std::vector<std::vector<OperationIndex>> partner;
      partner.resize(std::size_t(coordinates));
      for (std::int32_t from = 0; from < coordinates; ++from) {
        if (between_roles && from != std::int32_t(role)) continue;
        const auto other = messages[other_role].find({other_kind, axes, from});
        if (other == messages[other_role].end()) continue;
        const std::size_t pairs = std::min(own.size(), other->second.size());
        partner[std::size_t(from)].assign(other->second.begin(),
                                          other->second.begin() + std::ptrdiff_t(pairs));
      }
      program.messages.push_back({axis, peer, own, std::move(partner)});
    }
  }
}

void match_waits(MatchedProgram& program) {
  program.waited.resize(program.operations.size());
  std::vector<OperationIndex> outstanding;
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    if (!is_wait(operation.kind)) {
      if (!operation.blocking && operation.kind != OperationKind::compute)
        outstanding.push_back(OperationIndex(i));
      continue;
    }
    const auto is_finished = [&](OperationIndex other) {
      const Operation& issued = program.operations[std::size_t(other)];
      return operation.kind == OperationKind::wait ? issued.handle == operation.handle
                                                   : issued.axes == operation.axes;
    };
    const auto rest = std::stable_partition(outstanding.begin(), outstanding.end(),
                                            [&](OperationIndex other) { return !is_finished(other); });
    program.waited[i].assign(rest, outstanding.end());
    outstanding.erase(rest, outstanding.end());
    DLNB_REQUIRE(operation.kind == OperationKind::wait_all || program.waited[i].size() == 1,
                 "a wait finishes exactly one operation that was issued before it");
  }
}

}  // namespace

Matching match(const Schedule& schedule) {
  Matching matching{&schedule, {}, {}, {}};
  for (const Program& program : schedule.programs) {
    MatchedProgram& matched = matching.programs.emplace_back();
    matched.operations = execution_order(program);
    for (const Operation& operation : matched.operations)
      matched.briefs.push_back({operation.kind, moves_data(operation.kind) && operation.blocking});
    match_waits(matched);
  }
  for (std::int64_t rank = 0; rank < schedule.grid.ranks(); ++rank)
    matching.role_of.push_back(std::int32_t(schedule.role_of(rank)));
  match_collectives(matching);
  match_messages(matching);
  return matching;
}

}  // namespace dlnb
