// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "executor/live/transport.hpp"

namespace dlnb::mpi {

/// Whether the MPI library in this process, initialised, takes addresses of memory of "CUDA" or "HIP". Asks the
/// functions that the library has for it, which are no part of the standard:
///   Open MPI   MPIX_Query_cuda_support since 2.0, MPIX_Query_rocm_support since 5.0
///   MPICH      MPIX_Query_cuda_support, MPIX_Query_hip_support, MPIX_GPU_query_support since 4.0; as do libraries
///              that come from it
MemoryAnswer takes_memory_of(std::string_view runtime);

}  // namespace dlnb::mpi
