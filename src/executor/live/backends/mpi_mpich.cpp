// SPDX-License-Identifier: Apache-2.0
#include "executor/live/mpi_library.hpp"

namespace dlnb::backends {

extern constinit const Backend mpi_mpich{
    .name = "mpi-mpich",
    .summary = "processes over MPICH",
    .missing = [] { return missing(mpich()); },
    .open = [](const WorldOptions& options,
               const std::function<void(Transport&)>& body) { open(mpich(), options, body); },
    .launcher = [](const LaunchRequest& request) { return mpich().launcher(request); },
    .memories = mpi_memories,
};

}  // namespace dlnb::backends
