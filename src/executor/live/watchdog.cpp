// SPDX-License-Identifier: Apache-2.0
#include "executor/live/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "executor/live/compute.hpp"

namespace dlnb {

Watchdog::Watchdog(Place& place, Seconds limit, Lost lost, Seconds period, std::function<bool()> done)
    : place_(place), lost_(std::move(lost)), done_(std::move(done)) {
  const auto nanoseconds = [](Seconds time) { return std::llround(std::min(time.value, 1e9) * 1e9); };
  const std::int64_t longest = nanoseconds(limit);
  std::int64_t pause = period.value > 0 ? nanoseconds(period) : 1'000'000'000;
  if (longest > 0) pause = std::min(pause, std::max<std::int64_t>(longest / 8, 5'000'000));
  if (longest > 0 || done_) thread_ = std::thread([this, longest, pause] { watch(longest, pause); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  closing_signal_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Watchdog::move_to(const Cpus& cpus) {
  if (thread_.joinable()) move_thread(thread_.native_handle(), cpus);
}

void Watchdog::watch(std::int64_t limit, std::int64_t period) {
  std::unique_lock lock(mutex_);
  while (!closing_signal_.wait_for(lock, std::chrono::nanoseconds(period), [this] { return closing_; }))
    if ((limit > 0 && overdue(limit, period)) || (done_ && done_())) return;
}

bool Watchdog::overdue(std::int64_t limit, std::int64_t period) {
  const int place = place_.at.load(std::memory_order_acquire);
  const std::int64_t now = monotonic_clock().now();
  // Where this thread did not run either (a suspended job, a host without a core to spare), nothing is known of the rank.
  if (const std::int64_t before = std::exchange(last_look_, now);
      before > 0 && now - before > period + limit / 2)
    last_beat_ = now;
  if (const std::uint32_t seen = place_.beats.load(std::memory_order_relaxed); seen != beats_)
    beats_ = seen, last_beat_ = now;
  const std::int64_t waited = now - std::max(place_.since.load(std::memory_order_relaxed), last_beat_);
  // The place may have changed between the two loads; then the rank is not stuck.
  if (place < 0 || waited <= limit || place != place_.at.load(std::memory_order_acquire)) return false;
  lost_(place, double(waited) * 1e-9);
  return true;
}

}  // namespace dlnb
