// SPDX-License-Identifier: Apache-2.0
#include "executor/live/backend.hpp"
#include "executor/live/modules.hpp"

namespace dlnb {
namespace {

constexpr Module module_{"oneCCL", "dlnb_oneccl.so",
                         "scripts/install oneccl, or set CCL_ROOT to a oneAPI installation's"};

}  // namespace

namespace backends {
extern constinit const Backend oneccl{
    .name = "oneccl",
    .summary = "processes over Intel's oneCCL, on the host's processors and libfabric",
    .missing = [] { return missing(module_, {"libfabric.so.1", "apt install libfabric1"}); },
    .open =
        [](const WorldOptions& options, const std::function<void(Transport&)>& body) {
          open(module_, options_of_this_world(options), body);
        },
    .launcher = [](const LaunchRequest&) { return Launcher{}; },
};
}  // namespace backends
}  // namespace dlnb
