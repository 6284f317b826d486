// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/oneccl/calls.hpp"

#include <cstdint>
#include <vector>

namespace dlnb::oneccl {
namespace {

std::vector<std::size_t> counts(const std::int64_t* parts, std::int64_t members) {
  return {parts, parts + members};
}

// ccl::barrier spins until everybody is there, also where others have no core, and where other transfers have to be
// looked after. A sum is there no earlier.
ccl::event meet(const ccl::communicator& communicator) {
  static std::uint8_t nothing = 0, sum = 0;  // all barriers under way write the same
  return ccl::allreduce(&nothing, &sum, 1, ccl::datatype::uint8, ccl::reduction::sum, communicator);
}

}  // namespace

ccl::event start(const Transfer& t, const ccl::communicator& communicator, std::int64_t members,
                 const Sums& sums) {
  const Sum& sum = sums.of(t.dtype);
  const ccl::datatype type = sum.type;
  const auto sent = std::size_t(t.elements_sent), received = std::size_t(t.elements_received);
  // oneCCL only reads what it sends.
  auto* const send = const_cast<std::byte*>(t.send);
  switch (t.kind) {
    case OperationKind::all_reduce:
      return ccl::allreduce(send, t.receive, received, type, sum.operation, communicator, sum.all_reduce);
    case OperationKind::reduce_scatter:
      return ccl::reduce_scatter(send, t.receive, received, type, sum.operation, communicator);
    case OperationKind::all_gather: return ccl::allgather(send, t.receive, sent, type, communicator);
    case OperationKind::all_to_all:
      if (t.parts_sent)
        return ccl::alltoallv(send, counts(t.parts_sent, members), t.receive,
                              counts(t.parts_received, members), type, communicator);
      return ccl::alltoall(send, t.receive, sent / std::size_t(members), type, communicator);
    case OperationKind::broadcast: return ccl::broadcast(t.receive, received, type, t.peer, communicator);
    case OperationKind::send: return ccl::send(send, sent, type, t.peer, communicator);
    case OperationKind::recv: return ccl::recv(t.receive, received, type, t.peer, communicator);
    default: return meet(communicator);
  }
}

}  // namespace dlnb::oneccl
