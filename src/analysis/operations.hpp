// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <dlnb/metrics.hpp>

#include "analysis/arrivals.hpp"

namespace dlnb {

/// One row per role × axis × kind × phase × type × size, for everything that moves data between ranks;
/// sorted by these.
std::vector<OperationRow> operation_rows(const Trace& trace, Arrivals& arrivals);

/// The bytes nccl-tests divide by time: the operation's larger side on one rank.
Bytes algorithm_bytes(const Operation& operation);
/// bus bandwidth / algorithm bandwidth for a group of `members`.
double bus_factor(OperationKind kind, std::int64_t members);

}  // namespace dlnb
