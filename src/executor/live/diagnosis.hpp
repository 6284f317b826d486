// SPDX-License-Identifier: Apache-2.0
// Who keeps the others waiting, from where all ranks are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <dlnb/schedule.hpp>
#include <dlnb/trace.hpp>

#include "executor/live/process.hpp"
#include "executor/live/recorder.hpp"

namespace dlnb {

/// One rank as its recorder shows it.
struct RankState {
  std::int64_t rank = 0;
  Life life = Life::unknown;
  bool known = false;  ///< its recorder can be read from here
  Stage stage = Stage::preparing;
  std::int64_t iteration = 0;
  int place = Place::before_all;  ///< as in Place::at
  std::int64_t beats = 0;         ///< as in Place::beats
  double waited = 0;              ///< seconds, where it waits
  bool distressed = false;
  int signal = 0;

  /// Whether the others can wait in vain for it: one that has ended because it waited in vain itself is none of these.
  bool out_of_order() const { return life == Life::stopped || (life == Life::ended && !distressed); }
};

/// Places behind the operations of an iteration: `operations + Beyond`.
enum Beyond : int { agreeing, setting_up, starting, reading_clocks, collecting };

/// All ranks of a run; those without a record are not known. `one_process`: ranks are threads and live as long as it.
std::vector<RankState> states_of(const std::vector<Record>& records, std::int64_t ranks);

struct Diagnosis {
  std::vector<LostRankState> missing;
  std::string text;  ///< job, communicator, operation, missing ranks and who waits for them
};

/// `ended` names ranks that are known to have been the first to end; empty: whoever keeps the others waiting is found
/// by following who waits for whom. A rank that has arrived where it is waited for is not missing unless its process
/// has ended or is stopped.
Diagnosis diagnose(const Schedule& schedule, std::span<const RankState> states,
                   const std::vector<std::int64_t>& ended = {});

/// Which of `among`, that all ended within a moment, the others were waiting for then, whoever is left: where one ended
/// first and a launcher has ended the others, it is that one. None where nobody waited for one of them.
std::vector<std::int64_t> waited_for(const Schedule& schedule, std::span<const RankState> states,
                                     const std::vector<std::int64_t>& among);

/// "0–3, 5"
std::string ranks_text(std::vector<std::int64_t> ranks);

}  // namespace dlnb
