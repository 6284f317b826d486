// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>

#include "executor/live/modules/mpi/calls.hpp"
#include "executor/live/modules/mpi/sum.hpp"

namespace dlnb::mpi {
namespace {

template <DataType type>
void add(void* in, void* inout, MPI_Count* items, MPI_Datatype* datatype) {
  add_items(type, in, inout, *items, *datatype);
}

struct Uneven {
  const MPI_Count *sent, *received;
  const MPI_Aint *sent_at, *received_at;
};
Uneven uneven(const Call& call) {
  const std::size_t members = std::size_t(call.members);
  std::vector<MPI_Count>& counts = call.parts.large_counts;
  std::vector<MPI_Aint>& places = call.parts.large_places;
  counts.resize(2 * members);
  places.resize(2 * members);
  MPI_Aint sent = 0, received = 0;
  for (std::size_t i = 0; i < members; ++i) {
    counts[i] = call.transfer.parts_sent[i];
    counts[members + i] = call.transfer.parts_received[i];
    places[i] = std::exchange(sent, sent + counts[i]);
    places[members + i] = std::exchange(received, received + counts[members + i]);
  }
  return {&counts[0], &counts[members], &places[0], &places[members]};
}

}  // namespace

MPI_Op make_sum(DataType type) {
  MPI_User_function_c* function = add<DataType::float32>;
  if (type == DataType::float16) function = add<DataType::float16>;
  if (type == DataType::bfloat16) function = add<DataType::bfloat16>;
  if (type == DataType::float8) function = add<DataType::float8>;
  MPI_Op op;
  check(MPI_Op_create_c(function, 1, &op));
  return op;
}

std::int64_t largest_sum(std::int64_t) { return std::numeric_limits<std::int64_t>::max(); }

int start(const Call& call, Types& types, std::int64_t, MPI_Request* request) {
  const Transfer& t = call.transfer;
  const MPI_Datatype type = types.element(t.dtype);
  const MPI_Comm comm = call.communicator;
  const MPI_Count sent = t.elements_sent, received = t.elements_received;
  switch (t.kind) {
    case OperationKind::all_reduce:
      check(MPI_Iallreduce_c(input_of(t), t.receive, received, type, types.sum(t.dtype), comm, request));
      break;
    case OperationKind::all_gather:
      check(MPI_Iallgather_c(input_of(t), sent, type, t.receive, sent, type, comm, request));
      break;
    case OperationKind::reduce_scatter:
      check(MPI_Ireduce_scatter_block_c(input_of(t), t.receive, received, type, types.sum(t.dtype), comm,
                                        request));
      break;
    case OperationKind::all_to_all: {
      if (t.parts_sent) {
        const Uneven u = uneven(call);
        check(MPI_Ialltoallv_c(t.send, u.sent, u.sent_at, type, t.receive, u.received, u.received_at, type,
                               comm, request));
        break;
      }
      const MPI_Count part = sent / call.members;
      check(MPI_Ialltoall_c(input_of(t), part, type, t.receive, part, type, comm, request));
      break;
    }
    case OperationKind::broadcast:
      check(MPI_Ibcast_c(t.receive, received, type, t.peer, comm, request));
      break;
    case OperationKind::send: check(MPI_Isend_c(t.send, sent, type, t.peer, t.tag, comm, request)); break;
    case OperationKind::recv:
      check(MPI_Irecv_c(t.receive, received, type, t.peer, t.tag, comm, request));
      break;
    default: check(MPI_Ibarrier(comm, request)); break;
  }
  return 1;
}

void run(const Call& call, Types& types, std::int64_t, const Repeats& repeats) {
  const Transfer t = call.transfer;
  const MPI_Datatype type = types.element(t.dtype);
  const MPI_Op sum = types.sum(t.dtype);
  const MPI_Comm comm = call.communicator;
  const MPI_Count sent = t.elements_sent, received = t.elements_received;
  const void* const input = input_of(t);
  switch (t.kind) {
    case OperationKind::all_reduce:
      return repeats([&] { return MPI_Allreduce_c(input, t.receive, received, type, sum, comm); });
    case OperationKind::all_gather:
      return repeats([&] { return MPI_Allgather_c(input, sent, type, t.receive, sent, type, comm); });
    case OperationKind::reduce_scatter:
      return repeats([&] { return MPI_Reduce_scatter_block_c(input, t.receive, received, type, sum, comm); });
    case OperationKind::all_to_all: {
      if (t.parts_sent) {
        const Uneven u = uneven(call);
        return repeats([&] {
          return MPI_Alltoallv_c(t.send, u.sent, u.sent_at, type, t.receive, u.received, u.received_at, type,
                                 comm);
        });
      }
      const MPI_Count part = sent / call.members;
      return repeats([&] { return MPI_Alltoall_c(input, part, type, t.receive, part, type, comm); });
    }
    case OperationKind::broadcast:
      return repeats([&] { return MPI_Bcast_c(t.receive, received, type, t.peer, comm); });
    case OperationKind::send:
      return repeats([&] { return MPI_Send_c(t.send, sent, type, t.peer, t.tag, comm); });
    case OperationKind::recv:
      return repeats(
          [&] { return MPI_Recv_c(t.receive, received, type, t.peer, t.tag, comm, MPI_STATUS_IGNORE); });
    default: return repeats([&] { return MPI_Barrier(comm); });
  }
}

}  // namespace dlnb::mpi
