// SPDX-License-Identifier: Apache-2.0
#include "executor/live/coll_case.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

/// Why there are no rows of this operation; empty where there are.
std::string obstacle(CollOperation operation, std::int64_t members, const Transport& transport) {
  if (operation == CollOperation::send_recv && members == 1) return "send-recv needs two ranks in a group";
  if (operation == CollOperation::all_to_all_v && !transport.takes_uneven_parts())
    return fmt::format("{} does not do {}", transport.library(), name_of(operation));
  return {};
}

bool works_in_place(CollOperation operation, const Transport& transport) {
  if (operation == CollOperation::send_recv || operation == CollOperation::all_to_all_v) return false;
  return transport.works_in_place(kind_of(operation));
}

/// Elements that all members send to this one.
std::int64_t arriving(const CollCase& row, const CollSpec& spec, const CollPlace& place) {
  if (row.operation != CollOperation::all_to_all_v) return row.shape.received;
  return uneven_parts(row.shape.sent, place.members, spec.skew)[std::size_t(place.member)] * place.members;
}

}  // namespace

std::string describe(const CollCase& row) {
  if (row.operation == CollOperation::barrier) return name_of(row.operation);
  return fmt::format("{} of {} bytes of {}{}", name_of(row.operation), row.shape.bytes, name_of(row.dtype),
                     row.in_place ? " in place" : "");
}

std::vector<CollCase> coll_cases(const CollSpec& spec, std::int64_t members, const Transport& transport,
                                 std::vector<std::string>& notes) {
  const std::vector<std::int64_t> sizes = sizes_of(spec);
  std::vector<CollCase> rows;
  std::string first_reason;
  const auto leave_out = [&](const std::string& reason) {
    if (first_reason.empty()) first_reason = reason;
    notes.push_back("left out: " + reason);
  };
  for (const CollOperation operation : spec.operations) {
    if (operation == CollOperation::barrier) {
      rows.push_back({operation, DataType::float8, false, {}});
      continue;
    }
    if (const std::string reason = obstacle(operation, members, transport); !reason.empty()) {
      leave_out(reason);
      continue;
    }
    std::vector<bool> forms;
    if (spec.in_place != InPlace::yes) forms.push_back(false);
    if (spec.in_place != InPlace::no) {
      if (works_in_place(operation, transport)) forms.push_back(true);
      else leave_out(fmt::format("{} does not do {} in place", transport.library(), name_of(operation)));
    }
    for (const DataType dtype : spec.dtypes) {
      for (const std::int64_t size : sizes) {
        const CollShape shape = shape_of(operation, dtype, size, members, spec.definitions);
        const std::string reason =
            transport.lacks(kind_of(operation), dtype, std::max(shape.sent, shape.received));
        if (!reason.empty()) {
          leave_out(reason);
          break;
        }
        for (const bool in_place : forms) rows.push_back({operation, dtype, in_place, shape});
      }
    }
  }
  if (rows.empty()) throw Unavailable("coll", first_reason);
  return rows;
}

std::vector<int> group_of(const CollSpec& spec, int rank, CollPlace& place) {
  const int groups = int(spec.groups), members = int(spec.ranks / spec.groups);
  const bool strided = spec.grouping == Grouping::strided;
  place.group = strided ? rank % groups : rank / members;
  place.member = strided ? rank / groups : rank % members;
  place.members = members;
  std::vector<int> ranks;
  for (int member = 0; member < members; ++member)
    ranks.push_back(strided ? member * groups + place.group : place.group * members + member);
  return ranks;
}

void CollMemory::grow_to(const CollMemory& other) {
  send = std::max(send, other.send);
  receive = std::max(receive, other.receive);
  reduced = std::max(reduced, other.reduced);
}

CollMemory memory_of(const CollCase& row, const CollSpec& spec, const CollPlace& place) {
  const std::int64_t size = size_of(row.dtype);
  CollMemory memory{row.shape.sent * size, arriving(row, spec, place) * size};
  if (row.in_place) memory = {0, std::max(memory.send, memory.receive)};
  if (row.operation == CollOperation::all_reduce || row.operation == CollOperation::reduce_scatter)
    memory.reduced = row.shape.bytes;
  return memory;
}

CollMoves moves_of(const CollCase& row, const CollSpec& spec, const CollPlace& place,
                   const Transport& transport, std::byte* send, std::byte* receive) {
  const int me = int(place.member), members = int(place.members);
  const std::int64_t shard = row.shape.count * size_of(row.dtype);
  CollMoves moves;
  Transfer& first = moves.first;
  first = {.kind = kind_of(row.operation),
           .dtype = row.dtype,
           .communicator = place.communicator,
           .send = row.in_place ? receive : send,
           .receive = receive,
           .elements_sent = row.shape.sent,
           .elements_received = row.shape.received};
  switch (row.operation) {
    case CollOperation::all_gather:
      if (row.in_place) first.send = receive + me * shard;
      break;
    case CollOperation::reduce_scatter:
      if (row.in_place) first.receive = receive + transport.shard_in_place(me) * shard;
      break;
    case CollOperation::all_to_all_v: {
      moves.parts_sent = uneven_parts(row.shape.sent, place.members, spec.skew);
      moves.parts_received.assign(std::size_t(members), moves.parts_sent[std::size_t(me)]);
      first.parts_sent = moves.parts_sent.data();
      first.parts_received = moves.parts_received.data();
      first.elements_received = moves.parts_sent[std::size_t(me)] * members;
      break;
    }
    case CollOperation::broadcast:
      // The root has one buffer in any case; out of place it is the other one.
      if (me == 0 && !row.in_place) first.receive = send;
      break;
    case CollOperation::send_recv: {
      const bool even = me % 2 == 0, ring = spec.pattern == MessagePattern::ring;
      Transfer out = first, in = first;
      out.receive = nullptr, out.elements_received = 0;
      in.kind = OperationKind::recv, in.send = nullptr, in.elements_sent = 0;
      out.peer = ring ? (me + 1) % members : me ^ 1;
      in.peer = ring ? (me + members - 1) % members : me ^ 1;
      if (ring) {
        moves.form = CollMoves::Form::at_once;
        first = out, moves.second = in;
      } else if (spec.pattern == MessagePattern::ping_pong) {
        moves.form = CollMoves::Form::in_turn;
        first = even ? out : in, moves.second = even ? in : out;
        moves.share = 0.5;
      } else {
        first = even ? out : in;
        // One byte to where nothing is looked at.
        Transfer word = even ? in : out;
        word.dtype = DataType::float8;
        word.elements_sent = even ? 0 : 1, word.elements_received = even ? 1 : 0;
        moves.closing = word;
      }
      break;
    }
    default: break;
  }
  return moves;
}

}  // namespace dlnb
