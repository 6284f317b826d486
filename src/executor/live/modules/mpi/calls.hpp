// SPDX-License-Identifier: Apache-2.0
// The calls that carry counts. MPI 4 has forms with 64-bit counts (calls_64.cpp); before, counts are int and
// large ones go by derived datatypes (calls_32.cpp). The build takes one of the two files.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "executor/live/modules/mpi/types.hpp"
#include "executor/live/transport.hpp"

namespace dlnb::mpi {

/// Counts and places of uneven parts as MPI wants them, sent ones first; there until the transfer is complete.
struct Parts {
  std::vector<int> counts, places;
  std::vector<MPI_Count> large_counts;
  std::vector<MPI_Aint> large_places;
  std::vector<MPI_Datatype> types;
};

/// A transfer on its communicator.
struct Call {
  const Transfer& transfer;
  MPI_Comm communicator;
  int members;
  Parts& parts;
};

/// One transfer takes at most so many requests.
inline constexpr int most_requests = 2;

/// Starts it and returns how many requests it took.
int start(const Call& call, Types& types, std::int64_t largest_count, MPI_Request* requests);
/// Carries it out so many times.
struct Repeats {
  int times = 1;
  std::atomic<std::uint32_t>& begun;  ///< of these

  /// `operation` returns MPI's code.
  template <typename Operation>
  void operator()(const Operation& operation) const {
    for (int i = 0; i < times; ++i) {
      count_one(begun);
      check(operation());
    }
  }
};
void run(const Call& call, Types& types, std::int64_t largest_count, const Repeats& repeats);

/// The most elements that the library adds up with its own operator.
std::int64_t largest_sum(std::int64_t largest_count);

/// The input as MPI wants it.
inline const void* input_of(const Transfer& t) {
  const std::less<const std::byte*> before;
  const bool in_place =
      t.kind == OperationKind::all_gather
          ? !before(t.send, t.receive) && before(t.send, t.receive + t.elements_received * size_of(t.dtype))
          : t.send == t.receive;
  return in_place ? MPI_IN_PLACE : t.send;
}

/// The operator that adds elements of this type.
MPI_Op make_sum(DataType type);

}  // namespace dlnb::mpi
