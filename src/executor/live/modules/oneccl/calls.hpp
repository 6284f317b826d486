// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/ccl.hpp>

#include "executor/live/modules/oneccl/sums.hpp"
#include "executor/live/transport.hpp"

namespace dlnb::oneccl {

/// Starts the transfer in a communicator of so many members.
ccl::event start(const Transfer& transfer, const ccl::communicator& communicator, std::int64_t members,
                 const Sums& sums);

}  // namespace dlnb::oneccl
