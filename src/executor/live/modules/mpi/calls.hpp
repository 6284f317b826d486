// SPDX-License-Identifier: Apache-2.0
// The calls that carry counts. MPI 4 has forms with 64-bit counts (calls_64.cpp); before, counts are int and
// large ones go by derived datatypes (calls_32.cpp). The build takes one of the two files.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "executor/live/modules/mpi/types.hpp"
#include "executor/live/transport.hpp"

namespace dlnb::mpi {

/// A transfer on its communicator.
struct Call {
  const Transfer& transfer;
  MPI_Comm communicator;
  int members;
};

/// One transfer takes at most so many requests.
inline constexpr int most_requests = 2;

/// Starts it and returns how many requests it took.
int start(const Call& call, Types& types, std::int64_t largest_count, MPI_Request* requests);
void run(const Call& call, Types& types, std::int64_t largest_count);

/// The input of an all-reduce as MPI wants it.
inline const void* input_of(const Transfer& all_reduce) {
  return all_reduce.send == all_reduce.receive ? MPI_IN_PLACE : all_reduce.send;
}

/// The operator that adds elements of this type.
MPI_Op make_sum(DataType type);

}  // namespace dlnb::mpi
