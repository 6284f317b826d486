// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <dlnb/trace.hpp>

#include "executor/live/compute.hpp"
#include "executor/live/energy.hpp"
#include "executor/live/neighbours.hpp"

namespace dlnb {

/// What the counters of a machine count between two moments, shared out among its ranks: the machine's own parts
/// evenly among all of them, a device evenly among those that work on it. The first rank of a machine reads.
class EnergyMeter {
 public:
  /// Opens the counters of this machine, where this rank is its first. Starts a thread where they have to be read now
  /// and then.
  EnergyMeter(const Neighbours& neighbours, Clock& clock, EnergyPlace place = {});
  ~EnergyMeter();
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  void begin();
  void end();
  /// Collective. Fills rank 0's trace; where only some machines have counters there is a note and no energy.
  void collect(const Control& control, Trace& trace) const;

  /// This machine's ranks; empty where nothing was counted.
  std::vector<RankEnergy> shares() const;
  std::string method() const;
  /// Why counting ended; empty where it did not.
  std::string problem() const;

 private:
  struct Reading {
    std::int64_t at = 0;
    std::vector<EnergyReading> parts;
  };

  Reading read();
  void keep_reading(Seconds gap);

  const Neighbours& neighbours_;
  Clock& clock_;
  std::vector<std::unique_ptr<EnergyCounters>> counters_;
  mutable std::mutex mutex_;  // of the counters and the problem
  std::string problem_;
  Reading begin_, end_;
  std::condition_variable closing_signal_;
  bool closing_ = false;
  std::thread reader_;
};

}  // namespace dlnb
