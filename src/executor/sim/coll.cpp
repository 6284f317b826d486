// SPDX-License-Identifier: Apache-2.0
// The collective benchmark on a modelled machine: every row is a schedule of one operation, repeated back to back.
#include "executor/sim/coll.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <dlnb/error.hpp>

#include "core/progress.hpp"
#include "executor/sim/noise.hpp"
#include "executor/sim/sim.hpp"

namespace dlnb {
namespace {

bool is_simulated(CollOperation operation) { return operation != CollOperation::all_to_all_v; }

Operation message(OperationKind kind, const CollRow& row, std::int64_t peer, int handle) {
  Operation operation;
  operation.kind = kind;
  operation.dtype = row.dtype;
  operation.peer = std::int32_t(peer);
  operation.blocking = handle == nothing;
  operation.handle = handle;
  (kind == OperationKind::send ? operation.elements_sent : operation.elements_received) =
      kind == OperationKind::send ? row.shape.sent : row.shape.received;
  return operation;
}

Operation wait_for(int handle) {
  Operation operation;
  operation.kind = OperationKind::wait;
  operation.handle = handle;
  return operation;
}

/// What member `me` of n does for one exchange.
std::vector<Operation> messages_of(const CollRow& row, MessagePattern pattern, std::int64_t me,
                                   std::int64_t n) {
  const bool even = me % 2 == 0;
  const std::int64_t partner = even ? me + 1 : me - 1;
  using enum OperationKind;
  switch (pattern) {
    case MessagePattern::ring:
      return {message(send, row, (me + 1) % n, 0), message(recv, row, (me + n - 1) % n, 1), wait_for(0),
              wait_for(1)};
    case MessagePattern::ping_pong:
      if (even) return {message(send, row, partner, nothing), message(recv, row, partner, nothing)};
      return {message(recv, row, partner, nothing), message(send, row, partner, nothing)};
    case MessagePattern::one_way: return {message(even ? send : recv, row, partner, nothing)};
  }
  return {};
}

Schedule schedule_of(const CollSpec& spec, const CollRow& row) {
  Schedule schedule;
  schedule.plan = "coll";
  // The first axis varies fastest: members of a contiguous group are neighbours.
  const Axis members{"member", row.ranks}, groups{"group", spec.groups};
  schedule.grid = spec.grouping == Grouping::contiguous || spec.groups == 1 ? ProcessGrid({members, groups})
                                                                            : ProcessGrid({groups, members});
  const int axis = schedule.grid.find("member");
  const AxisSet over = AxisSet{1} << axis;
  const OperationKind kind = kind_of(row.operation);
  if (row.operation == CollOperation::send_recv) {
    schedule.role_axis = axis;
    for (std::int64_t member = 0; member < row.ranks; ++member) {
      std::vector<Operation> operations = messages_of(row, spec.pattern, member, row.ranks);
      for (Operation& operation : operations) operation.axes = over;
      schedule.programs.push_back({member, std::move(operations), 0});
    }
    return schedule;
  }
  Operation operation;
  operation.kind = kind;
  operation.axes = over;
  operation.dtype = row.dtype;
  operation.elements_sent = row.shape.sent;
  operation.elements_received = row.shape.received;
  if (kind == OperationKind::broadcast)
    operation.elements_sent = operation.elements_received = row.shape.count;
  schedule.programs.push_back({0, {operation}, 0});
  return schedule;
}

/// Fills in the times of a row: operations that follow their like. Without noise one is like the other.
void simulate_row(const CollSpec& spec, const Machine& machine, const Placement& placement, CollRow& row) {
  const Schedule schedule = schedule_of(spec, row);
  RunSpec repeated;
  const bool is_disturbed = !sim::make_disturbance(spec.noise, spec.seed).is_none();
  repeated.iterations = is_disturbed ? spec.iterations : 1;
  repeated.warmup = is_disturbed ? spec.warmup : 1;
  repeated.noise = spec.noise;
  repeated.seed = spec.seed;
  const Trace trace = simulate(schedule, machine, placement, repeated);
  row.series.assign(std::size_t(repeated.iterations), 0);
  const bool messages = row.operation == CollOperation::send_recv;
  double sum = 0;
  int counted = 0;
  row.low = INFINITY, row.high = 0;
  for (const RankTrace& rank : trace.ranks) {
    // A small message leaves its sender at once: what one takes is seen where it arrives.
    if (messages && spec.pattern == MessagePattern::one_way && schedule.role_of(rank.rank) % 2 == 0) continue;
    double seconds = 0;
    for (std::size_t i = 0; i < row.series.size(); ++i) {
      double one = double(rank.end_of(i) - rank.begin_of(i)) * 1e-9;
      if (messages && spec.pattern == MessagePattern::ping_pong) one /= 2;
      row.series[i] = std::max(row.series[i], one);
      seconds += one;
    }
    seconds /= double(row.series.size());
    ++counted;
    sum += seconds;
    row.low = std::min(row.low, seconds);
    row.high = std::max(row.high, seconds);
  }
  row.time = sum / counted;
  row.iterations = spec.iterations;
  if (!spec.series) row.series.clear();
  else if (!is_disturbed) row.series.assign(std::size_t(spec.iterations), row.high);
  set_bandwidths(row);
}

void refuse_what_is_not_simulated(const CollSpec& spec) {
  if (spec.overlap)
    throw UserError("--overlap", "overlap is measured, not simulated",
                    "leave out --machine, or simulate a plan that overlaps");
  if (std::ranges::none_of(spec.operations, is_simulated))
    throw Unavailable("--operation", "uneven parts are not simulated",
                      "measure them live, or simulate all-to-all");
}

}  // namespace

CollTable simulate(const CollSpec& spec, const Machine& machine, const Placement& placement) {
  refuse_what_is_not_simulated(spec);
  const sim::Disturbance disturbance = sim::make_disturbance(spec.noise, spec.seed);
  if (disturbance.noise.ranks && disturbance.noise.ranks->is_of_compute())
    throw UserError(spec.noise.empty() ? "--noise" : where_of(spec.noise.array().front(), "noise"),
                    "it disturbs compute, of which a benchmark of collectives has none",
                    "take noise of collectives or of ranks: outliers, periodic or random");
  CollTable table;
  table.spec = spec;
  table.executor = "sim";
  table.library = machine.name;
  const std::int64_t members = spec.ranks / spec.groups;
  const std::vector<std::int64_t> sizes = sizes_of(spec);
  for (const CollOperation operation : spec.operations) {
    if (!is_simulated(operation)) {
      table.notes.push_back(fmt::format("{} is not simulated", name_of(operation)));
      continue;
    }
    for (const DataType dtype : spec.dtypes)
      for (const std::int64_t size :
           operation == CollOperation::barrier ? std::vector<std::int64_t>{0} : sizes) {
        CollRow row{.operation = operation, .ranks = members, .dtype = dtype};
        row.shape = shape_of(operation, dtype, size, members, spec.definitions);
        simulate_row(spec, machine, placement, row);
        for (const bool in_place : {false, true}) {
          if (in_place ? spec.in_place == InPlace::no : spec.in_place == InPlace::yes) continue;
          row.in_place = in_place;
          table.rows.push_back(row);
        }
        progress::report("simulated sizes", std::int64_t(table.rows.size()),
                         std::int64_t(spec.operations.size() * spec.dtypes.size() * sizes.size()));
      }
  }
  if (disturbance.is_none())
    table.notes.push_back(
        "simulated: every iteration takes the same time; buffers in place or not are no different");
  else table.notes.push_back(disturbance.text + "; buffers in place or not are no different");
  if (disturbance.noise.collectives &&
      std::ranges::find(spec.operations, CollOperation::send_recv) != spec.operations.end())
    table.notes.push_back("send-recv is no collective, and its messages are not disturbed");
  return table;
}

}  // namespace dlnb
