// SPDX-License-Identifier: Apache-2.0
#include "executor/live/backend.hpp"
#include "executor/live/nccl/world.hpp"

namespace dlnb::backends {
namespace {
constexpr MemoryKind memories[] = {MemoryKind::hip};
}

extern constinit const Backend rccl{
    .name = "rccl",
    .summary = "processes over RCCL, a rank on every AMD GPU",
    .missing = [] { return nccl::missing(gpu::Vendor::amd); },
    .open =
        [](const WorldOptions& options, const std::function<void(Transport&)>& body) {
          nccl::open(nccl::library_of(gpu::Vendor::amd), options, body);
        },
    .launcher = [](const LaunchRequest&) { return Launcher{}; },
    .memories = memories,
};

}  // namespace dlnb::backends
