// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analysis/analysis.hpp"
#include "analysis/arrivals.hpp"
#include "analysis/operations.hpp"

namespace dlnb {

/// Where every rank's every iteration went; per rank and iteration the parts sum to the time exactly.
Attribution attribute(const Schedule& schedule, const Trace& trace, Arrivals& arrivals);
/// The same; tallies the operations on the way.
Attribution attribute(const Schedule& schedule, const Trace& trace, Arrivals& arrivals,
                      OperationTallies& tallies);

/// The rank with the longest iteration; the lowest of equals.
std::size_t slowest_rank(const Attribution& attribution, int iteration);
/// The rank with the largest share of synchronisation; the lowest of equals.
std::size_t most_synchronising_rank(const Attribution& attribution, int iteration);
/// sync / time, 0 for an empty iteration.
double synchronising_share(const Breakdown& breakdown);

}  // namespace dlnb
