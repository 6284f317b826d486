// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <dlnb/coll.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/transport.hpp"

namespace dlnb {

/// One rank's whole benchmark, from its end of the world to the table on rank 0. Collective. Throws UserError (too
/// little memory, wrong number of ranks) and Unavailable (an operation the library lacks), the same on every rank;
/// LostRank where the watchdog released it. Wrong data is in the table.
std::optional<CollTable> run_coll_session(const CollSpec& spec, Transport& transport, Clock& clock);

/// Whether a helper thread of each rank will use the library as well.
bool wants_second_thread(const CollSpec& spec);

}  // namespace dlnb
