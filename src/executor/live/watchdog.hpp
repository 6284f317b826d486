// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include <dlnb/units.hpp>

#include "executor/live/cpus.hpp"

namespace dlnb {

/// Looks from its own thread whether a rank has waited too long in one place.
class Watchdog {
 public:
  /// `lost(place, seconds)` is called once, in the watchdog's thread. A limit of 0 switches it off.
  Watchdog(Seconds limit, std::function<void(int place, double seconds)> lost);
  ~Watchdog();

  /// Keeps its thread to these.
  void move_to(const Cpus& cpus);

  /// Two stores: cheap enough for the timed loop. `place` ≥ 0; `now` is the monotonic clock.
  void enter(int place, std::int64_t now) {
    since_.store(now, std::memory_order_relaxed);
    place_.store(place, std::memory_order_release);
  }
  void leave() { place_.store(-1, std::memory_order_release); }
  /// Between `enter` and `leave` of something long: the rank goes on, the wait counts from anew.
  void beat() { beats_.store(beats_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

 private:
  void watch(std::int64_t limit);

  std::function<void(int, double)> lost_;
  std::atomic<std::int64_t> since_ = 0;
  std::atomic<int> place_ = -1;
  std::atomic<std::uint32_t> beats_ = 0;
  std::mutex mutex_;
  std::condition_variable closing_signal_;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace dlnb
