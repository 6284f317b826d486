// SPDX-License-Identifier: Apache-2.0
#include "executor/live/surroundings.hpp"

#include <algorithm>
#include <cstdlib>

namespace dlnb {
namespace {

// Ours first: a run may be started from within a batch job's step. Open MPI's mpirun sets the second and the third;
// `srun --mpi=pmix` the third, which Open MPI understands; MPICH's mpiexec and `srun --mpi=pmi2` the last, which MPICH
// understands.
struct Sign {
  const char* rank;
  const char* size;
  const char* library;
};
constexpr Sign signs[] = {{own_rank_variable, own_size_variable, ""},
                          {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi"},
                          {"PMIX_RANK", "SLURM_NTASKS", "openmpi"},
                          {"PMI_RANK", "PMI_SIZE", "mpich"}};

}  // namespace

Surroundings surroundings(const char* (*lookup)(const char* name)) {
  for (const Sign& sign : signs)
    if (const char* rank = lookup(sign.rank)) {
      const char* const size = lookup(sign.size);
      return {true, sign.library, sign.rank, std::atoi(rank), size ? std::max(0, std::atoi(size)) : 0};
    }
  return {};
}

Surroundings surroundings() {
  return surroundings([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace dlnb
