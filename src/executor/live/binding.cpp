// SPDX-License-Identifier: Apache-2.0
#include "executor/live/binding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

bool reduces(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::reduce_scatter;
}

class Binder {
 public:
  Binder(const Schedule& schedule, std::int64_t rank, bool all_reduce_in_place)
      : schedule_(schedule), rank_(rank), all_reduce_in_place_(all_reduce_in_place) {}

  Binding bind() {
    binding_.operations = execution_order(schedule_.program_of(rank_));
    number_groups();
    for (std::size_t i = 0; i < binding_.operations.size(); ++i)
      binding_.actions.push_back(action(binding_.operations[i], int(i)));
    DLNB_REQUIRE(outstanding_.empty(), "a non-blocking operation is waited for in its own step");
    return std::move(binding_);
  }

 private:
  struct Outstanding {
    int operation;
    std::int32_t handle;
    AxisSet axes;
    int slot, lane;
  };

  bool in_place(OperationKind kind) const {
    return kind == OperationKind::broadcast || (kind == OperationKind::all_reduce && all_reduce_in_place_);
  }
  bool alone(const Operation& operation) const { return schedule_.grid.size(operation.axes) == 1; }

  // In ascending order of axes, which is the same order on every rank.
  void number_groups() {
    binding_.groups.emplace_back();
    for (std::int64_t rank = 0; rank < schedule_.grid.ranks(); ++rank)
      binding_.groups[0].push_back(int(rank));
    std::set<AxisSet> used;
    for (const Operation& operation : binding_.operations)
      if (is_collective(operation.kind) && !alone(operation)) used.insert(operation.axes);
    binding_.group_axes = {0};
    for (const AxisSet axes : used) {
      const auto ranks = schedule_.grid.group(rank_, axes).ranks();
      binding_.groups.emplace_back(ranks.begin(), ranks.end());
      std::ranges::sort(binding_.groups.back());
      binding_.group_axes.push_back(axes);
    }
  }

  Action action(const Operation& operation, int index) {
    Action action;
    if (operation.kind == OperationKind::compute) {
      action.what = Action::What::compute;
      action.asked = std::llround(operation.cost.time.value * 1e9);
    } else if (is_wait(operation.kind)) {
      wait(operation, action);
    } else if (moves_data(operation.kind)) {
      if (!alone(operation)) transfer(operation, index, action);
      else if (!operation.blocking) outstanding_.push_back({index, operation.handle, operation.axes, -1, -1});
    } else {
      DLNB_REQUIRE(false, "an operation that cannot be carried out live was refused before");
    }
    return action;
  }

  void transfer(const Operation& operation, int index, Action& action) {
    Transfer& transfer = action.transfer;
    transfer.kind = operation.kind;
    transfer.dtype = operation.dtype;
    transfer.elements_sent = operation.kind == OperationKind::recv ? 0 : operation.elements_sent;
    transfer.elements_received = operation.kind == OperationKind::send ? 0 : operation.elements_received;
    if (is_message(operation.kind)) {
      transfer.peer = int(peer_of(schedule_, rank_, operation));
    } else {
      const auto group = std::ranges::find(binding_.group_axes, operation.axes);
      transfer.communicator = int(group - binding_.group_axes.begin());
      transfer.peer = std::max(operation.peer, 0);
    }
    action.lane = take(busy_lanes_);
    binding_.lanes.resize(std::max(binding_.lanes.size(), std::size_t(action.lane) + 1));
    Lane& lane = binding_.lanes[std::size_t(action.lane)];
    const std::int64_t size = size_of(operation.dtype);
    action.in_place = in_place(operation.kind);
    if (!action.in_place) lane.send_bytes = std::max(lane.send_bytes, transfer.elements_sent * size);
    lane.receive_bytes = std::max(lane.receive_bytes, transfer.elements_received * size);
    if (reduces(operation.kind))
      lane.reduced_bytes =
          std::max(lane.reduced_bytes, std::max(transfer.elements_sent, transfer.elements_received) * size);

    if (operation.blocking) {
      action.what = Action::What::run;
      busy_lanes_[std::size_t(action.lane)] = false;
      return;
    }
    action.what = Action::What::start;
    action.slot = take(busy_slots_);
    binding_.slots = std::max(binding_.slots, action.slot + 1);
    outstanding_.push_back({index, operation.handle, operation.axes, action.slot, action.lane});
  }

  void wait(const Operation& operation, Action& action) {
    action.first_waited = int(binding_.waited.size());
    const auto meant = [&](const Outstanding& o) {
      return operation.kind == OperationKind::wait ? o.handle == operation.handle : o.axes == operation.axes;
    };
    DLNB_REQUIRE(operation.kind == OperationKind::wait_all || std::ranges::any_of(outstanding_, meant),
                 "a wait names an outstanding operation");
    for (const Outstanding& o : outstanding_)
      if (meant(o) && o.slot >= 0) {
        binding_.waited.push_back({o.operation, o.slot});
        busy_slots_[std::size_t(o.slot)] = busy_lanes_[std::size_t(o.lane)] = false;
      }
    std::erase_if(outstanding_, meant);
    action.waited_count = int(binding_.waited.size()) - action.first_waited;
    if (action.waited_count > 0) action.what = Action::What::wait;
  }

  static int take(std::vector<bool>& busy) {
    const auto free = std::find(busy.begin(), busy.end(), false);
    const auto index = free - busy.begin();
    if (free == busy.end()) busy.push_back(true);
    else *free = true;
    return int(index);
  }

  const Schedule& schedule_;
  const std::int64_t rank_;
  const bool all_reduce_in_place_;
  Binding binding_;
  std::vector<Outstanding> outstanding_;
  std::vector<bool> busy_lanes_, busy_slots_;
};

}  // namespace

std::vector<int> Binding::peers(OperationKind kind) const {
  std::set<int> peers;
  for (const Action& action : actions)
    if (action.transfer.kind == kind) peers.insert(action.transfer.peer);
  return {peers.begin(), peers.end()};
}

std::int64_t Binding::buffer_bytes() const {
  std::int64_t bytes = 0;
  for (const Lane& lane : lanes) bytes += lane.send_bytes + lane.receive_bytes;
  return bytes;
}

std::int64_t Binding::library_bytes() const {
  std::int64_t bytes = 0;
  for (const Lane& lane : lanes) bytes += lane.reduced_bytes;
  return bytes;
}

void refuse_unsupported(const Schedule& schedule) {
  for (const Program& program : schedule.programs)
    for (const Operation& operation : program.operations)
      if (operation.kind != OperationKind::compute && !is_wait(operation.kind) && !moves_data(operation.kind))
        throw Unavailable("run",
                          fmt::format("operation '{}' cannot be carried out live", name_of(operation.kind)),
                          "simulate this plan instead");
}

Binding bind(const Schedule& schedule, std::int64_t rank, bool all_reduce_in_place) {
  return Binder(schedule, rank, all_reduce_in_place).bind();
}

std::string describe(const Schedule& schedule, const Operation& operation, std::size_t index) {
  std::string text = name_of(operation.kind);
  if (operation.axes != 0) text += " over " + schedule.grid.text(operation.axes);
  text += fmt::format(" (operation {}", index);
  if (operation.layer != nothing) text += fmt::format(", layer {}", operation.layer);
  if (operation.unit != nothing) text += fmt::format(", unit {}", operation.unit);
  if (operation.microbatch != nothing) text += fmt::format(", micro-batch {}", operation.microbatch);
  return text + ")";
}

}  // namespace dlnb
