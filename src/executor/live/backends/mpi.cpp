// SPDX-License-Identifier: Apache-2.0
#include "executor/live/mpi_library.hpp"

namespace dlnb::backends {

extern constinit const Backend mpi{
    .name = "mpi",
    .summary = "processes over MPI: the launcher's library, or DLNETBENCH_MPI, or the first there is",
    .missing = [] { return missing(automatic_mpi()); },
    .open = [](const WorldOptions& options,
               const std::function<void(Transport&)>& body) { open(automatic_mpi(), options, body); },
    .launcher = [](const LaunchRequest& request) { return automatic_mpi().launcher(request); },
    .memories = mpi_memories,
};

}  // namespace dlnb::backends
