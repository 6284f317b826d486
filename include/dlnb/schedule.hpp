// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dlnb/spec.hpp>
#include <dlnb/step.hpp>
#include <dlnb/units.hpp>

namespace dlnb {

/// One dimension of a process grid: "tensor", "context", "expert", "fsdp", "pipeline", "data".
struct Axis {
  std::string name;
  std::int64_t size = 1;
};

/// A set of axes as bits; a collective over several axes joins all ranks that differ only in these.
using AxisSet = std::uint32_t;

/// The ranks of one collective: base plus every combination of strides, in ascending rank order.
struct Group {
  std::int64_t base = 0;
  std::vector<Axis> extents;          ///< only sizes are used
  std::vector<std::int64_t> strides;  ///< one per extent, fastest first

  std::int64_t size() const;
  std::int64_t rank(std::int64_t index) const;
  std::int64_t index_of(std::int64_t rank) const;
  std::vector<std::int64_t> ranks() const;
};

/// Ranks arranged along named axes; the first axis varies fastest.
class ProcessGrid {
 public:
  ProcessGrid() = default;
  explicit ProcessGrid(std::vector<Axis> axes);

  const std::vector<Axis>& axes() const { return axes_; }
  std::int64_t ranks() const { return ranks_; }
  /// Index of the axis called `name`, or -1.
  int find(std::string_view name) const;
  std::int64_t size(AxisSet axes) const;  ///< ranks in a group over these axes
  std::int64_t coordinate(std::int64_t rank, int axis) const;
  std::int64_t with_coordinate(std::int64_t rank, int axis, std::int64_t coordinate) const;
  Group group(std::int64_t rank, AxisSet axes) const;
  AxisSet all() const { return (AxisSet{1} << axes_.size()) - 1; }
  /// "data", "expert+data"; "world" where every axis is in.
  std::string text(AxisSet axes) const;

 private:
  std::vector<Axis> axes_;
  std::vector<std::int64_t> strides_;
  std::int64_t ranks_ = 1;
};

enum class OperationKind : std::uint8_t {
  compute,
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  barrier,
  send,
  recv,
  wait,      ///< for the one operation whose handle it carries
  wait_all,  ///< for every outstanding operation on its axes
  copy,      ///< host ↔ device
  storage_read,
  storage_write,
  remote_call,
};

enum class Phase : std::uint8_t { forward, backward, synchronise, optimise };

/// "all-reduce", "wait-all", …; "forward", "backward", "synchronise", "optimise"
const char* name_of(OperationKind kind);
const char* name_of(Phase phase);
constexpr bool is_collective(OperationKind k) {
  return k >= OperationKind::all_reduce && k <= OperationKind::barrier;
}
constexpr bool is_message(OperationKind k) { return k == OperationKind::send || k == OperationKind::recv; }
constexpr bool is_wait(OperationKind k) { return k == OperationKind::wait || k == OperationKind::wait_all; }
constexpr bool moves_data(OperationKind k) { return is_collective(k) || is_message(k); }

inline constexpr std::int32_t nothing = -1;

/// One thing a rank does. Elements follow nccl's conventions per rank:
/// all-gather sends its shard and receives n shards, reduce-scatter the reverse, all-to-all n parts both ways.
struct Operation {
  OperationKind kind = OperationKind::compute;
  Phase phase = Phase::forward;
  DataType dtype = DataType::bfloat16;
  bool blocking = true;
  bool ahead = false;  ///< the host issues it here, a device starts it as soon as its communicator is free
  PartKind part = PartKind::mlp;
  bool has_part = false;        ///< compute of exactly one part (else of several, merged)
  AxisSet axes = 0;             ///< the group, or the one axis along which a message travels
  std::int32_t peer = nothing;  ///< coordinate on that axis
  std::int32_t layer = nothing;
  std::int32_t microbatch = nothing;
  std::int32_t unit = nothing;  ///< bucket or sharding unit
  std::int32_t handle =
      nothing;  ///< number of a non-blocking operation in its program; of a wait: what it waits for
  std::int64_t elements_sent = 0;
  std::int64_t elements_received = 0;
  std::int64_t padding = 0;  ///< of the larger of the two, elements added to make parts equal
  Cost cost;                 ///< compute only
};

/// What one rank must hold at the worst moment of a step, in bytes (docs/models/memory.md).
struct Memory {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;
  double buffers = 0;  ///< gathered parameters and gradients on their way to their shards

  double total() const { return parameters + gradients + optimizer + activations + buffers; }
};

/// What every rank of one role does in one step, in the order in which it is issued.
struct Program {
  std::int64_t role = 0;  ///< coordinate on the pipeline axis; 0 where there is none
  std::vector<Operation> operations;
  std::int64_t held_parameters = 0;  ///< elements resident on one rank of this role
  Memory memory;
};

struct Schedule {
  std::string plan;
  std::string model;
  std::string device;
  std::string cost_model;
  Flavour flavour = Flavour::paper;
  ProcessGrid grid;
  int role_axis = nothing;         ///< the axis whose coordinate selects the program
  std::vector<Program> programs;   ///< one per role, ascending
  std::int64_t global_batch = 0;   ///< samples per step over all replicas
  std::int64_t sequence = 1;       ///< tokens per sample
  std::int64_t device_memory = 0;  ///< bytes
  double message_scale = 1;
  double compute_scale = 1;
  std::vector<std::string> notes;  ///< what a reader of the result must know: padding, known slips, scaling

  std::int64_t role_of(std::int64_t rank) const {
    return role_axis < 0 ? 0 : grid.coordinate(rank, role_axis);
  }
  const Program& program_of(std::int64_t rank) const { return programs[std::size_t(role_of(rank))]; }
};

/// A program in the order in which a rank executes it: operations marked `ahead` have moved up to just behind
/// the previous wait on their axes, so that they overlap the compute before them. Both executors run this.
std::vector<Operation> execution_order(const Program& program);

/// The largest payload of an operation on one rank: its message size in the paper's sense.
/// all-reduce, send, recv: the elements; all-gather, reduce-scatter: one shard; all-to-all: one pair's part.
std::int64_t message_elements(const Operation& operation, std::int64_t group_size);

/// The global rank an operation of `rank` talks to (messages only).
std::int64_t peer_of(const Schedule& schedule, std::int64_t rank, const Operation& operation);

}  // namespace dlnb
