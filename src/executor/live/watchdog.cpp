// SPDX-License-Identifier: Apache-2.0
#include "executor/live/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "executor/live/compute.hpp"

namespace dlnb {

Watchdog::Watchdog(Seconds limit, std::function<void(int, double)> lost) : lost_(std::move(lost)) {
  const std::int64_t nanoseconds = std::llround(std::min(limit.value, 1e9) * 1e9);
  if (nanoseconds > 0) thread_ = std::thread([this, nanoseconds] { watch(nanoseconds); });
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

void Watchdog::watch(std::int64_t limit) {
  const std::chrono::nanoseconds period(std::clamp<std::int64_t>(limit / 8, 5'000'000, 1'000'000'000));
  std::uint32_t beats = 0;
  std::int64_t last_beat = 0;
  std::unique_lock lock(mutex_);
  while (!closing_signal_.wait_for(lock, period, [this] { return closing_; })) {
    const int place = place_.load(std::memory_order_acquire);
    const std::int64_t now = monotonic_clock().now();
    if (const std::uint32_t seen = beats_.load(std::memory_order_relaxed); seen != beats)
      beats = seen, last_beat = now;
    const std::int64_t waited = now - std::max(since_.load(std::memory_order_relaxed), last_beat);
    // The place may have changed between the two loads; then the rank is not stuck.
    if (place < 0 || waited <= limit || place != place_.load(std::memory_order_acquire)) continue;
    lost_(place, double(waited) * 1e-9);
    return;
  }
}

}  // namespace dlnb
