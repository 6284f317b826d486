// SPDX-License-Identifier: Apache-2.0
#include "executor/live/backend.hpp"
#include "executor/live/nccl/world.hpp"

namespace dlnb::backends {
namespace {
constexpr MemoryKind memories[] = {MemoryKind::cuda};
}

extern constinit const Backend nccl{
    .name = "nccl",
    .summary = "processes over NCCL, a rank on every NVIDIA GPU",
    .missing = [] { return nccl::missing(gpu::Vendor::nvidia); },
    .open =
        [](const WorldOptions& options, const std::function<void(Transport&)>& body) {
          nccl::open(nccl::library_of(gpu::Vendor::nvidia), options, body);
        },
    .launcher = [](const LaunchRequest&) { return Launcher{}; },
    .memories = memories,
};

}  // namespace dlnb::backends
