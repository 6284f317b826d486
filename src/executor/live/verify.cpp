// SPDX-License-Identifier: Apache-2.0
#include "executor/live/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>

#include "executor/live/coll_data.hpp"
#include "executor/live/compute.hpp"
#include "executor/live/pattern.hpp"

namespace dlnb {
namespace {

/// What is checked once. All participants have the same, and go through theirs in ascending order, so that no
/// two can wait for each other.
struct Key {
  AxisSet axes;
  OperationKind kind;  ///< of messages always send
  bool blocking;       ///< of messages always true: the two sides may differ
  DataType dtype;
  std::int64_t from, to;  ///< of messages; else root and 0
  std::int64_t elements_sent, elements_received;

  auto operator<=>(const Key&) const = default;
};

Key key_of(const Operation& operation, const Transfer& transfer, int rank) {
  if (!is_message(operation.kind))
    return {operation.axes,         operation.kind,
            operation.blocking,     operation.dtype,
            transfer.peer,          0,
            transfer.elements_sent, transfer.elements_received};
  const bool sends = operation.kind == OperationKind::send;
  const std::int64_t elements = std::max(transfer.elements_sent, transfer.elements_received);
  return {operation.axes,
          OperationKind::send,
          true,
          operation.dtype,
          sends ? rank : transfer.peer,
          sends ? transfer.peer : rank,
          elements,
          elements};
}

CollOperation operation_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::all_reduce: return CollOperation::all_reduce;
    case OperationKind::all_gather: return CollOperation::all_gather;
    case OperationKind::reduce_scatter: return CollOperation::reduce_scatter;
    case OperationKind::all_to_all: return CollOperation::all_to_all;
    case OperationKind::broadcast: return CollOperation::broadcast;
    case OperationKind::send:
    case OperationKind::recv: return CollOperation::send_recv;
    default: return CollOperation::barrier;
  }
}

CollData data_of(const Key& key, const Transfer& transfer, const Group& group, int rank) {
  CollMoves moves;
  moves.first = transfer;
  // Messages name ranks of the world, and both sides have to mean the same.
  CollPlace place{.member = rank, .members = 1};
  if (!is_message(transfer.kind))
    place = {.group = int(group.base), .member = group.index_of(rank), .members = group.size()};
  return CollData({operation_of(transfer.kind), transfer.dtype}, moves, place,
                  mix(std::uint64_t(key.elements_sent), std::uint64_t(key.kind), key.axes));
}

}  // namespace

Verification verify(const Schedule& schedule, const Binding& binding, Transport& transport,
                    Watchdog& watchdog) {
  std::map<Key, std::size_t> distinct;
  for (std::size_t i = 0; i < binding.actions.size(); ++i) {
    const Action& action = binding.actions[i];
    if (action.what == Action::What::run || action.what == Action::What::start)
      distinct.try_emplace(key_of(binding.operations[i], action.transfer, transport.rank()), i);
  }
  Verification result;
  for (const auto& [key, index] : distinct) {
    const Action& action = binding.actions[index];
    const CollData data =
        data_of(key, action.transfer, schedule.grid.group(transport.rank(), key.axes), transport.rank());
    data.write(transport);
    watchdog.enter(int(index), monotonic_clock().now());
    if (action.what == Action::What::run) {
      transport.run(action.transfer);
    } else {
      transport.start(action.slot, action.transfer);
      transport.wait(action.slot);
    }
    watchdog.leave();
    ++result.operations;
    if (const CollData::Outcome outcome = data.compare(transport);
        result.mismatch.empty() && outcome.wrong > 0)
      result.mismatch = fmt::format("rank {}, {}: {}", transport.rank(),
                                    describe(schedule, binding.operations[index], index), outcome.first);
    data.clear(transport);
  }
  return result;
}

}  // namespace dlnb
