// SPDX-License-Identifier: Apache-2.0
// A world that is coming up: until its library connects the ranks and they have their flight recorders, only this tells
// how far each of them is, and nothing else ends what never comes up.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <dlnb/units.hpp>

#include "executor/live/fault.hpp"
#include "executor/live/process.hpp"
#include "executor/live/watchdog.hpp"

namespace dlnb {

/// How far a rank is on its way into the world.
enum class Arrival : int { absent, begun, joining, joined, left };

/// A rank as it has said of itself.
struct Arriving {
  std::int64_t rank = 0;
  Arrival stage = Arrival::absent;
  pid_t process = 0;  ///< 0: in another process namespace
  std::uint64_t process_start = 0;
  Life life = Life::unknown;
};

/// What the ranks have left in the store (store.hpp); all are absent where that cannot be read.
std::vector<Arriving> arrivals_in(const std::string& store, std::int64_t ranks);
std::optional<Arriving> arrival_in(const std::string& store, std::int64_t rank);

/// Which ranks are missing and how far they are: those that are behind the others, have ended or are stopped.
std::string missing_text(const std::vector<Arriving>& ranks);
/// Of ranks that ended within a moment, before the world had come up: those that had come least far, because a launcher
/// ends the others wherever they are.
std::string ended_text(const std::vector<Arriving>& ranks, const std::vector<std::int64_t>& ended);

/// How long a world may take to come up: DLNETBENCH_START_LIMIT in seconds, else the watchdog's limit and a minute at
/// least, because ranks may be started one after the other. 0: no limit. Throws UserError.
Seconds start_limit(Seconds watchdog);

/// A rank's way into the world. Where nobody watches it, it ends the process when the limit is over (exit 5).
class Start {
 public:
  /// A fault at the start strikes in here.
  Start(std::int64_t ranks, Seconds watchdog, bool is_watched, const RankOptions& options);
  ~Start();
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  /// The library has connected the ranks.
  void joined();
  /// Others can look, and the rank's own watchdog does.
  void over() { watchdog_.reset(); }

 private:
  void sign(Arrival stage) const;
  [[noreturn]] void give_up(double waited) const;

  const std::int64_t ranks_;
  const int rank_;
  const std::string store_;
  std::unique_ptr<Watchdog> watchdog_;
};

}  // namespace dlnb
