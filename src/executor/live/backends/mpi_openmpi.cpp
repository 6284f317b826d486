// SPDX-License-Identifier: Apache-2.0
#include "executor/live/mpi_library.hpp"

namespace dlnb::backends {

extern constinit const Backend mpi_openmpi{
    .name = "mpi-openmpi",
    .summary = "processes over Open MPI",
    .missing = [] { return missing(open_mpi()); },
    .open = [](const WorldOptions& options,
               const std::function<void(Transport&)>& body) { open(open_mpi(), options, body); },
    .launcher = [](const LaunchRequest& request) { return open_mpi().launcher(request); },
    .memories = mpi_memories,
};

}  // namespace dlnb::backends
