// SPDX-License-Identifier: Apache-2.0
// Schedules written by hand, for tests of the live executor.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>

namespace dlnb::plans {

inline constexpr DataType all_types[] = {DataType::float32, DataType::float16, DataType::bfloat16,
                                         DataType::float8};
inline constexpr OperationKind all_collectives[] = {OperationKind::all_reduce,     OperationKind::all_gather,
                                                    OperationKind::reduce_scatter, OperationKind::all_to_all,
                                                    OperationKind::broadcast,      OperationKind::barrier};

inline Operation compute(double seconds) {
  Operation operation;
  operation.kind = OperationKind::compute;
  operation.cost.time = {seconds};
  return operation;
}

/// `elements`: message_elements of the operation, in a group of `members`.
inline Operation collective(OperationKind kind, AxisSet axes, std::int64_t members, DataType dtype,
                            std::int64_t elements) {
  Operation operation;
  operation.kind = kind;
  operation.axes = axes;
  operation.dtype = dtype;
  const bool many_out = kind == OperationKind::reduce_scatter || kind == OperationKind::all_to_all;
  const bool many_in = kind == OperationKind::all_gather || kind == OperationKind::all_to_all;
  if (kind == OperationKind::barrier) return operation;
  operation.elements_sent = elements * (many_out ? members : 1);
  operation.elements_received = elements * (many_in ? members : 1);
  return operation;
}

inline Operation message(OperationKind kind, AxisSet axes, std::int32_t peer, std::int64_t elements) {
  Operation operation;
  operation.kind = kind;
  operation.axes = axes;
  operation.peer = peer;
  (kind == OperationKind::send ? operation.elements_sent : operation.elements_received) = elements;
  return operation;
}

inline Operation behind_handle(Operation operation, std::int32_t handle) {
  operation.blocking = false;
  operation.handle = handle;
  return operation;
}

inline Operation wait(std::int32_t handle) {
  Operation operation;
  operation.kind = OperationKind::wait;
  operation.handle = handle;
  return operation;
}

inline Operation wait_all(AxisSet axes) {
  Operation operation;
  operation.kind = OperationKind::wait_all;
  operation.axes = axes;
  return operation;
}

/// All ranks along one axis "data" do the same.
inline Schedule alike(std::int64_t ranks, std::vector<Operation> operations) {
  Schedule schedule;
  schedule.plan = "by hand";
  schedule.grid = ProcessGrid({{"data", ranks}});
  schedule.programs = {{.role = 0, .operations = std::move(operations)}};
  return schedule;
}

/// Every collective in every type, blocking and not, over every set of the axes tensor (2) and data (`ranks` / 2), or
/// over data alone where `ranks` is odd; of them those that are wanted.
inline Schedule everything(
    std::int64_t ranks, std::int64_t elements,
    bool (*wanted)(OperationKind, DataType) = [](OperationKind, DataType) { return true; }) {
  Schedule schedule = alike(ranks, {});
  if (ranks % 2 == 0) schedule.grid = ProcessGrid({{"tensor", 2}, {"data", ranks / 2}});
  std::vector<Operation>& operations = schedule.programs[0].operations;
  std::int32_t handle = 0;
  for (AxisSet axes = 1; axes <= schedule.grid.all(); ++axes)
    for (const DataType type : all_types)
      for (const OperationKind kind : all_collectives) {
        if (!wanted(kind, type)) continue;
        const Operation one = collective(kind, axes, schedule.grid.size(axes), type, elements);
        operations.push_back(one);
        operations.push_back(behind_handle(one, handle));
        operations.push_back(compute(50e-6));
        operations.push_back(wait(handle++));
      }
  return schedule;
}

/// Two stages × `replicas`: the first sends forward, the second sends back, twice, once without blocking.
inline Schedule two_stages(std::int64_t replicas, std::int64_t elements) {
  Schedule schedule;
  schedule.plan = "by hand";
  schedule.grid = ProcessGrid({{"pipeline", 2}, {"data", replicas}});
  schedule.role_axis = 0;
  constexpr auto send = OperationKind::send, recv = OperationKind::recv;
  const AxisSet data = 2;
  const auto gradients = collective(OperationKind::all_reduce, data, replicas, DataType::bfloat16, elements);
  schedule.programs = {
      {.role = 0,
       .operations = {compute(100e-6), message(send, 1, 1, elements), message(recv, 1, 1, elements),
                      compute(100e-6), behind_handle(message(send, 1, 1, elements), 0),
                      message(recv, 1, 1, elements), wait(0), gradients}},
      {.role = 1,
       .operations = {message(recv, 1, 0, elements), compute(100e-6), message(send, 1, 0, elements),
                      behind_handle(message(recv, 1, 0, elements), 0), compute(100e-6), wait(0),
                      message(send, 1, 0, elements), gradients}},
  };
  return schedule;
}

/// A run as short as can be.
inline RunSpec spec(std::int64_t ranks, std::string backend = "threads") {
  RunSpec spec;
  spec.ranks = ranks;
  spec.backend = std::move(backend);
  spec.iterations = 2;
  spec.warmup = 1;
  return spec;
}

}  // namespace dlnb::plans
