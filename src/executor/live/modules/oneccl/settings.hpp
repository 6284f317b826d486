// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/live/module.hpp"
#include "executor/live/store.hpp"

namespace dlnb::oneccl {

/// oneCCL and libfabric read their settings from the environment when they start. Sets those that this program needs
/// and that the user has not set: no worker thread, no launcher, and, where all ranks are on one host, a network that
/// ends at the loopback. Collective: ranks tell each other through the store where they are.
void set_environment(const ModuleOptions& options, const Store& store);

}  // namespace dlnb::oneccl
