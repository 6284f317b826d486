// SPDX-License-Identifier: Apache-2.0
#include <dlnb/schedule.hpp>

#include <algorithm>

#include <dlnb/error.hpp>

namespace dlnb {

std::int64_t Group::size() const {
  std::int64_t size = 1;
  for (const Axis& extent : extents) size *= extent.size;
  return size;
}

std::int64_t Group::rank(std::int64_t index) const {
  std::int64_t rank = base;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    rank += index % extents[i].size * strides[i];
    index /= extents[i].size;
  }
  return rank;
}

std::int64_t Group::index_of(std::int64_t rank) const {
  std::int64_t index = 0, offset = rank - base;
  for (std::size_t i = extents.size(), below = 0; i-- > 0;) {
    const std::int64_t coordinate = offset / strides[i];
    offset %= strides[i];
    std::int64_t weight = 1;
    for (below = 0; below < i; ++below) weight *= extents[below].size;
    index += coordinate * weight;
  }
  return index;
}

std::vector<std::int64_t> Group::ranks() const {
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(size()));
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = rank(std::int64_t(i));
  return ranks;
}

ProcessGrid::ProcessGrid(std::vector<Axis> axes) : axes_(std::move(axes)) {
  for (const Axis& axis : axes_) {
    strides_.push_back(ranks_);
    ranks_ *= axis.size;
  }
}

int ProcessGrid::find(std::string_view name) const {
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].name == name) return int(i);
  return -1;
}

std::int64_t ProcessGrid::size(AxisSet axes) const {
  std::int64_t size = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes >> i & 1) size *= axes_[i].size;
  return size;
}

std::int64_t ProcessGrid::coordinate(std::int64_t rank, int axis) const {
  return rank / strides_[std::size_t(axis)] % axes_[std::size_t(axis)].size;
}

std::int64_t ProcessGrid::with_coordinate(std::int64_t rank, int axis, std::int64_t coordinate) const {
  return rank + (coordinate - this->coordinate(rank, axis)) * strides_[std::size_t(axis)];
}

Group ProcessGrid::group(std::int64_t rank, AxisSet axes) const {
  Group group{rank, {}, {}};
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes >> i & 1) {
      group.base = with_coordinate(group.base, int(i), 0);
      group.extents.push_back(axes_[i]);
      group.strides.push_back(strides_[i]);
    }
  return group;
}

std::string ProcessGrid::text(AxisSet axes) const {
  if (axes_.size() > 1 && axes == all()) return "world";
  std::string text;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes >> i & 1) text += (text.empty() ? "" : "+") + axes_[i].name;
  return text;
}

const char* name_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::compute: return "compute";
    case OperationKind::all_reduce: return "all-reduce";
    case OperationKind::all_gather: return "all-gather";
    case OperationKind::reduce_scatter: return "reduce-scatter";
    case OperationKind::all_to_all: return "all-to-all";
    case OperationKind::broadcast: return "broadcast";
    case OperationKind::barrier: return "barrier";
    case OperationKind::send: return "send";
    case OperationKind::recv: return "recv";
    case OperationKind::wait: return "wait";
    case OperationKind::wait_all: return "wait-all";
    case OperationKind::copy: return "copy";
    case OperationKind::storage_read: return "storage-read";
    case OperationKind::storage_write: return "storage-write";
    case OperationKind::remote_call: return "remote-call";
  }
  return "?";
}

const char* name_of(Phase phase) {
  switch (phase) {
    case Phase::forward: return "forward";
    case Phase::backward: return "backward";
    case Phase::synchronise: return "synchronise";
    case Phase::optimise: return "optimise";
  }
  return "?";
}

std::vector<Operation> execution_order(const Program& program) {
  std::vector<Operation> order;
  order.reserve(program.operations.size());
  for (const Operation& operation : program.operations) {
    auto place = order.end();
    if (operation.ahead) {
      // Back to just behind what its communicator was last busy with: the previous wait or operation on its axes.
      while (place != order.begin() && (place - 1)->axes != operation.axes) --place;
    }
    order.insert(place, operation);
  }
  return order;
}

std::int64_t message_elements(const Operation& operation, std::int64_t group_size) {
  switch (operation.kind) {
    case OperationKind::all_gather: return operation.elements_sent;
    case OperationKind::reduce_scatter: return operation.elements_received;
    case OperationKind::all_to_all: return operation.elements_sent / std::max<std::int64_t>(group_size, 1);
    default: return std::max(operation.elements_sent, operation.elements_received);
  }
}

std::int64_t peer_of(const Schedule& schedule, std::int64_t rank, const Operation& operation) {
  DLNB_REQUIRE(is_message(operation.kind), "only messages have a peer");
  int axis = 0;
  while (!(operation.axes >> axis & 1)) ++axis;
  return schedule.grid.with_coordinate(rank, axis, operation.peer);
}

}  // namespace dlnb
