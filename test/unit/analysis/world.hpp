// SPDX-License-Identifier: Apache-2.0
// Small worlds for tests: schedules of a few operations and the traces they leave, in round nanoseconds.
#pragma once

#include <utility>
#include <vector>

#include <dlnb/schedule.hpp>
#include <dlnb/trace.hpp>

#include "analysis/analysis.hpp"
#include "analysis/attribution.hpp"

namespace dlnb::world {

inline Operation compute() { return {.kind = OperationKind::compute}; }

/// All-reduce of `elements` bfloat16.
inline Operation all_reduce(AxisSet axes, std::int64_t elements = 1000) {
  return {.kind = OperationKind::all_reduce,
          .phase = Phase::backward,
          .axes = axes,
          .elements_sent = elements,
          .elements_received = elements};
}

inline Operation message(OperationKind kind, AxisSet axis, std::int32_t peer, std::int64_t elements = 1000) {
  Operation operation{.kind = kind, .axes = axis, .peer = peer};
  (kind == OperationKind::send ? operation.elements_sent : operation.elements_received) = elements;
  return operation;
}
inline Operation send(AxisSet axis, std::int32_t to) { return message(OperationKind::send, axis, to); }
inline Operation recv(AxisSet axis, std::int32_t from) { return message(OperationKind::recv, axis, from); }

inline Operation start(Operation operation, std::int32_t handle) {
  operation.blocking = false;
  operation.handle = handle;
  return operation;
}
inline Operation wait(const Operation& what) {
  return {.kind = OperationKind::wait, .axes = what.axes, .handle = what.handle};
}
inline Operation wait_all(AxisSet axes) { return {.kind = OperationKind::wait_all, .axes = axes}; }

/// Every rank runs the same program.
inline Schedule one_role(std::vector<Axis> axes, std::vector<Operation> operations) {
  Schedule schedule;
  schedule.grid = ProcessGrid(std::move(axes));
  schedule.programs = {{0, std::move(operations)}};
  return schedule;
}

/// One program per coordinate of axis `role_axis`.
inline Schedule roles(std::vector<Axis> axes, int role_axis, std::vector<std::vector<Operation>> programs) {
  Schedule schedule;
  schedule.grid = ProcessGrid(std::move(axes));
  schedule.role_axis = role_axis;
  for (auto& operations : programs)
    schedule.programs.push_back({std::int64_t(schedule.programs.size()), std::move(operations)});
  return schedule;
}

/// {begin, end} of a blocking operation.
inline Interval at(std::int64_t begin, std::int64_t end) { return {begin, end, end}; }
/// A non-blocking operation: issued in [begin, end), complete at `completed`.
inline Interval at(std::int64_t begin, std::int64_t end, std::int64_t completed) {
  return {begin, end, completed};
}

/// One iteration of every rank, from 0 to `end`.
inline Trace one_iteration(std::int64_t end, std::vector<std::vector<Interval>> ranks) {
  Trace trace{.executor = "sim", .iterations = 1};
  for (auto& intervals : ranks)
    trace.ranks.push_back({.rank = std::int64_t(trace.ranks.size()),
                           .iteration_begin = {0},
                           .iteration_end = {end},
                           .intervals = std::move(intervals)});
  return trace;
}

/// [rank] of iteration 0.
inline std::vector<Breakdown> breakdowns(const Schedule& schedule, const Trace& trace) {
  const Matching matching = match(schedule);
  Arrivals arrivals(matching, trace);
  std::vector<Breakdown> first;
  for (const auto& rank : attribute(schedule, trace, arrivals).of) first.push_back(rank.front());
  return first;
}

/// Compares as {compute, transfer, straggler wait, pipeline bubble}, which must also sum to the time.
inline std::vector<std::int64_t> parts(const Breakdown& breakdown) {
  std::vector<std::int64_t> parts{breakdown.compute, breakdown.transfer, breakdown.straggler_wait,
                                  breakdown.pipeline_bubble};
  if (parts[0] + parts[1] + parts[2] + parts[3] != breakdown.time) parts.push_back(breakdown.time);
  return parts;
}
using Parts = std::vector<std::int64_t>;

}  // namespace dlnb::world
