// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/units.hpp>

namespace dlnb::sim {

/// What this process may use: the host's memory or its control group's limit, whichever is less.
Bytes memory_of_this_host();

}  // namespace dlnb::sim
