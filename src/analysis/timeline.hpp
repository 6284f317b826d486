// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <dlnb/metrics.hpp>

#include "analysis/arrivals.hpp"

namespace dlnb {

inline constexpr std::size_t timeline_ranks = 16;
inline constexpr std::size_t timeline_events = 1000;  ///< per rank

struct Timeline {
  std::vector<TimelineRank> ranks;
  bool truncated = false;  ///< events of a rank were merged or left out
};

/// One iteration of a sample of ranks: the first rank of every role, then the lowest others, ascending.
/// Zero point: the iteration's begin on the earliest of all ranks.
Timeline timeline_of(const Trace& trace, Arrivals& arrivals, int iteration);

/// At most `limit` events: consecutive events of one cause become one, then the shortest are left out.
/// True where it changed anything.
bool shorten(std::vector<TimelineEvent>& events, std::size_t limit);

}  // namespace dlnb
