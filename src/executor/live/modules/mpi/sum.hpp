// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "executor/live/reduction.hpp"

namespace dlnb::mpi {

/// Body of a reduction operator: `items` of `datatype`, each one or many elements of `type`, follow each
/// other.
inline void add_items(DataType type, const void* in, void* inout, std::int64_t items, MPI_Datatype datatype) {
  MPI_Count bytes = 0;
  MPI_Type_size_x(datatype, &bytes);
  reduction::add(type, static_cast<const std::byte*>(in), static_cast<std::byte*>(inout),
                 items * (bytes / size_of(type)));
}

}  // namespace dlnb::mpi
