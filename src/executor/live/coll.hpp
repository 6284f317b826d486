// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <dlnb/coll.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/live.hpp"
#include "executor/live/rank_options.hpp"
#include "executor/live/transport.hpp"

namespace dlnb {

/// What the ranks of one process share. The operations of a fault are the rows of the table, its iterations the timed
/// ones.
struct CollSessionOptions : RankOptions {
  /// Called in one rank where the ranks report themselves: with what was measured before ranks were lost.
  OnPartialTable on_partial;
};

/// One rank's whole benchmark, from its end of the world to the table on rank 0. Collective. Throws UserError (too
/// little memory, wrong number of ranks) and Unavailable (an operation the library lacks), the same on every rank;
/// LostRank where the watchdog released it. Wrong data is in the table.
std::optional<CollTable> run_coll_session(const CollSpec& spec, Transport& transport, Clock& clock,
                                          const CollSessionOptions& options = {});

/// Whether a helper thread of each rank will use the library as well.
bool wants_second_thread(const CollSpec& spec);

}  // namespace dlnb
