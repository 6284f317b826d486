// SPDX-License-Identifier: Apache-2.0
#include "executor/live/surroundings.hpp"

#include <cstdlib>

namespace dlnb {

Surroundings surroundings(const char* (*lookup)(const char* name)) {
  // Open MPI's mpirun sets the first and the second; `srun --mpi=pmix` the second, which Open MPI
  // understands; MPICH's mpiexec and `srun --mpi=pmi2` the last, which MPICH understands.
  struct Sign {
    const char* variable;
    const char* library;
  };
  for (const Sign& sign :
       {Sign{"OMPI_COMM_WORLD_RANK", "openmpi"}, {"PMIX_RANK", "openmpi"}, {"PMI_RANK", "mpich"}})
    if (const char* rank = lookup(sign.variable)) return {true, sign.library, sign.variable, std::atoi(rank)};
  return {};
}

Surroundings surroundings() {
  return surroundings([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace dlnb
