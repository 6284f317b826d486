// SPDX-License-Identifier: Apache-2.0
// Counts are int. Where a count, or the sum of counts over the group that libraries form inside, would not
// fit:
//   all-reduce    two requests, blocks of elements and the rest, so that algorithms can still cut it in pieces
//   uneven parts  one item per rank, of a datatype as long as that rank's part and with its place inside
//   all others    one item per rank, of a datatype as long as that rank's part
#include <algorithm>
#include <utility>

#include "executor/live/modules/mpi/calls.hpp"
#include "executor/live/modules/mpi/sum.hpp"

namespace dlnb::mpi {
namespace {

template <DataType type>
void add(void* in, void* inout, int* items, MPI_Datatype* datatype) {
  add_items(type, in, inout, *items, *datatype);
}

/// Elements as MPI is told of them.
struct Items {
  int count;
  MPI_Datatype type;
  MPI_Op sum;
};

/// `elements` per rank, `total` over the group.
Items items_of(DataType dtype, std::int64_t elements, std::int64_t total, Types& types,
               std::int64_t largest) {
  if (total <= largest) return {int(elements), types.element(dtype), types.sum(dtype)};
  return {1, types.many(dtype, elements), types.sum_of_many(dtype)};
}

struct Pieces {
  Items first, rest;
  std::byte* rest_at;
  const void* rest_input;
};

Pieces pieces_of(const Transfer& t, Types& types, std::int64_t largest) {
  const std::int64_t elements = t.elements_received, blocks = elements / Types::block;
  const Items none{0, types.element(t.dtype), types.sum(t.dtype)};
  if (elements <= largest || blocks == 0)
    return {{int(elements), none.type, none.sum}, none, t.receive, input_of(t)};
  const std::int64_t done = blocks * Types::block * size_of(t.dtype);
  const bool in_place = t.send == t.receive;
  return {{int(blocks), types.many(t.dtype, Types::block), types.sum_of_many(t.dtype)},
          {int(elements % Types::block), none.type, none.sum},
          t.receive + done,
          in_place ? MPI_IN_PLACE : t.send + done};
}

/// What one rank hands to or gets from each other.
std::int64_t share_of(const Transfer& t, int members) {
  switch (t.kind) {
    case OperationKind::all_gather:
    case OperationKind::send: return t.elements_sent;
    case OperationKind::all_to_all: return t.elements_sent / members;
    default: return t.elements_received;
  }
}

/// Counts and places in elements; or, where those would not fit, a type for every part.
struct Uneven {
  const int *sent, *received, *sent_at, *received_at;
  const MPI_Datatype *sent_types = nullptr, *received_types = nullptr;
};
Uneven uneven(const Call& call, Types& types, std::int64_t largest) {
  const Transfer& t = call.transfer;
  const std::size_t members = std::size_t(call.members);
  Parts& parts = call.parts;
  const bool large = std::max(t.elements_sent, t.elements_received) > largest;
  parts.counts.resize(2 * members);
  parts.places.resize(2 * members);
  parts.types.resize(large ? 2 * members : 0);
  std::int64_t sent = 0, received = 0;
  for (std::size_t i = 0; i < members; ++i) {
    const std::int64_t sent_at = std::exchange(sent, sent + t.parts_sent[i]);
    const std::int64_t received_at = std::exchange(received, received + t.parts_received[i]);
    if (large) {
      parts.types[i] = types.placed(t.dtype, t.parts_sent[i], sent_at);
      parts.types[members + i] = types.placed(t.dtype, t.parts_received[i], received_at);
    }
    parts.counts[i] = large ? 1 : int(t.parts_sent[i]);
    parts.counts[members + i] = large ? 1 : int(t.parts_received[i]);
    parts.places[i] = large ? 0 : int(sent_at);
    parts.places[members + i] = large ? 0 : int(received_at);
  }
  Uneven u{&parts.counts[0], &parts.counts[members], &parts.places[0], &parts.places[members]};
  if (large) u.sent_types = &parts.types[0], u.received_types = &parts.types[members];
  return u;
}

std::int64_t total_of(const Transfer& t) { return std::max(t.elements_sent, t.elements_received); }

}  // namespace

MPI_Op make_sum(DataType type) {
  MPI_User_function* function = add<DataType::float32>;
  if (type == DataType::float16) function = add<DataType::float16>;
  if (type == DataType::bfloat16) function = add<DataType::bfloat16>;
  if (type == DataType::float8) function = add<DataType::float8>;
  MPI_Op op;
  check(MPI_Op_create(function, 1, &op));
  return op;
}

std::int64_t largest_sum(std::int64_t largest_count) { return largest_count; }

int start(const Call& call, Types& types, std::int64_t largest, MPI_Request* request) {
  const Transfer& t = call.transfer;
  const MPI_Comm comm = call.communicator;
  if (t.kind == OperationKind::all_reduce) {
    const Pieces p = pieces_of(t, types, largest);
    check(MPI_Iallreduce(input_of(t), t.receive, p.first.count, p.first.type, p.first.sum, comm, request));
    if (p.rest.count == 0) return 1;
    check(MPI_Iallreduce(p.rest_input, p.rest_at, p.rest.count, p.rest.type, p.rest.sum, comm, request + 1));
    return 2;
  }
  if (t.parts_sent) {
    const Uneven u = uneven(call, types, largest);
    const MPI_Datatype type = types.element(t.dtype);
    check(u.sent_types ? MPI_Ialltoallw(t.send, u.sent, u.sent_at, u.sent_types, t.receive, u.received,
                                        u.received_at, u.received_types, comm, request)
                       : MPI_Ialltoallv(t.send, u.sent, u.sent_at, type, t.receive, u.received, u.received_at,
                                        type, comm, request));
    return 1;
  }
  const Items i = items_of(t.dtype, share_of(t, call.members), total_of(t), types, largest);
  switch (t.kind) {
    case OperationKind::all_gather:
      check(MPI_Iallgather(input_of(t), i.count, i.type, t.receive, i.count, i.type, comm, request));
      break;
    case OperationKind::reduce_scatter:
      check(MPI_Ireduce_scatter_block(input_of(t), t.receive, i.count, i.type, i.sum, comm, request));
      break;
    case OperationKind::all_to_all:
      check(MPI_Ialltoall(input_of(t), i.count, i.type, t.receive, i.count, i.type, comm, request));
      break;
    case OperationKind::broadcast:
      check(MPI_Ibcast(t.receive, i.count, i.type, t.peer, comm, request));
      break;
    case OperationKind::send: check(MPI_Isend(t.send, i.count, i.type, t.peer, t.tag, comm, request)); break;
    case OperationKind::recv:
      check(MPI_Irecv(t.receive, i.count, i.type, t.peer, t.tag, comm, request));
      break;
    default: check(MPI_Ibarrier(comm, request)); break;
  }
  return 1;
}

void run(const Call& call, Types& types, std::int64_t largest, const Repeats& repeats) {
  const Transfer t = call.transfer;
  const MPI_Comm comm = call.communicator;
  const void* const input = input_of(t);
  if (t.kind == OperationKind::all_reduce) {
    const Pieces p = pieces_of(t, types, largest);
    if (p.rest.count == 0)
      return repeats(
          [&] { return MPI_Allreduce(input, t.receive, p.first.count, p.first.type, p.first.sum, comm); });
    return repeats([&] {
      check(MPI_Allreduce(input, t.receive, p.first.count, p.first.type, p.first.sum, comm));
      return MPI_Allreduce(p.rest_input, p.rest_at, p.rest.count, p.rest.type, p.rest.sum, comm);
    });
  }
  if (t.parts_sent) {
    const Uneven u = uneven(call, types, largest);
    const MPI_Datatype type = types.element(t.dtype);
    return repeats([&] {
      return u.sent_types ? MPI_Alltoallw(t.send, u.sent, u.sent_at, u.sent_types, t.receive, u.received,
                                          u.received_at, u.received_types, comm)
                          : MPI_Alltoallv(t.send, u.sent, u.sent_at, type, t.receive, u.received,
                                          u.received_at, type, comm);
    });
  }
  const Items i = items_of(t.dtype, share_of(t, call.members), total_of(t), types, largest);
  switch (t.kind) {
    case OperationKind::all_gather:
      return repeats([&] { return MPI_Allgather(input, i.count, i.type, t.receive, i.count, i.type, comm); });
    case OperationKind::reduce_scatter:
      return repeats(
          [&] { return MPI_Reduce_scatter_block(input, t.receive, i.count, i.type, i.sum, comm); });
    case OperationKind::all_to_all:
      return repeats([&] { return MPI_Alltoall(input, i.count, i.type, t.receive, i.count, i.type, comm); });
    case OperationKind::broadcast:
      return repeats([&] { return MPI_Bcast(t.receive, i.count, i.type, t.peer, comm); });
    case OperationKind::send:
      return repeats([&] { return MPI_Send(t.send, i.count, i.type, t.peer, t.tag, comm); });
    case OperationKind::recv:
      return repeats(
          [&] { return MPI_Recv(t.receive, i.count, i.type, t.peer, t.tag, comm, MPI_STATUS_IGNORE); });
    default: return repeats([&] { return MPI_Barrier(comm); });
  }
}

}  // namespace dlnb::mpi
