// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules.hpp"

namespace dlnb::backends {
namespace {

constexpr Module module{"gloo", "dlnb_gloo.so", "apt install libgloo-dev"};

}  // namespace

extern constinit const Backend gloo{
    .name = "gloo",
    .summary = "processes over gloo's TCP, as PyTorch's CPU backend",
    .missing = [] { return missing(module); },
    .open =
        [](const WorldOptions& options, const std::function<void(Transport&)>& body) {
          open(module, options_of_this_world(options), body);
        },
    .launcher = [](const LaunchRequest&) { return Launcher{}; },
};

}  // namespace dlnb::backends
