// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "executor/live/transport.hpp"

namespace dlnb {

/// What no schedule of live_rank reaches: operations in place, uneven parts, groups of one, tags, two communicators at
/// once, and looking instead of waiting. Throws WrongResult.
void check_transfers(Transport& transport);

}  // namespace dlnb
