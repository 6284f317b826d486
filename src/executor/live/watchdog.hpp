// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>

#include <dlnb/units.hpp>

#include "executor/live/cpus.hpp"
#include "executor/live/transport.hpp"  // count_one

namespace dlnb {

/// Where a rank is in its program. It lies in the flight recorder, so that others can look too.
struct Place {
  static constexpr int before_all = std::numeric_limits<int>::min();

  std::atomic<std::int64_t> since = 0;  ///< monotonic clock; of waits only
  std::atomic<int> at = before_all;     ///< ≥ 0: waiting in it; else ~at is what it has come to last
  std::atomic<std::uint32_t> beats = 0;

  /// Two stores: cheap enough for the timed loop. `place` ≥ 0; `now` is the monotonic clock.
  void enter(int place, std::int64_t now) {
    since.store(now, std::memory_order_relaxed);
    at.store(place, std::memory_order_release);
  }
  void leave(int place) { at.store(~place, std::memory_order_release); }
  /// One store, of what is not waited for.
  void pass(int place) { at.store(~place, std::memory_order_relaxed); }
  /// Between `enter` and `leave` of something long: the rank goes on, the wait counts from anew.
  void beat() { count_one(beats); }

  /// The place a value of `at` stands for; −1: before all.
  static int number(int at) { return at >= 0 ? at : at == before_all ? -1 : ~at; }
};

/// Looks from its own thread whether a rank has waited too long in one place.
class Watchdog {
 public:
  using Lost = std::function<void(int place, double seconds)>;

  /// `lost(place, seconds)` is called once, in the watchdog's thread, and ends its watch. A limit of 0 switches it off.
  Watchdog(Seconds limit, Lost lost) : Watchdog(own_place_, limit, std::move(lost), {}, {}) {}
  /// Looks at a place that lies elsewhere. `done` is asked every `period` at least; true ends the watch as well.
  Watchdog(Place& place, Seconds limit, Lost lost, Seconds period, std::function<bool()> done);
  ~Watchdog();

  /// Keeps its thread to these.
  void move_to(const Cpus& cpus);

  void enter(int place, std::int64_t now) { place_.enter(place, now); }
  void leave() { place_.at.store(Place::before_all, std::memory_order_release); }
  void leave(int place) { place_.leave(place); }
  void beat() { place_.beat(); }

 private:
  void watch(std::int64_t limit, std::int64_t period);
  bool overdue(std::int64_t limit, std::int64_t period);

  Place own_place_;
  Place& place_;
  Lost lost_;
  std::function<bool()> done_;
  std::uint32_t beats_ = 0;
  std::int64_t last_beat_ = 0, last_look_ = 0;
  std::mutex mutex_;
  std::condition_variable closing_signal_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace dlnb
