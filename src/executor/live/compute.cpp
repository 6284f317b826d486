// SPDX-License-Identifier: Apache-2.0
#include "executor/live/compute.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace dlnb {
namespace {

class MonotonicClock final : public Clock {
 public:
  std::int64_t now() override {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
  }
  void sleep(std::int64_t nanoseconds) override {
    // The kernel delays timers of a thread by up to its slack (50 µs by default) to save wake-ups.
    thread_local const int slack = prctl(PR_SET_TIMERSLACK, 1UL);
    (void)slack;
    const timespec time{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
  }
  void yield() override { sched_yield(); }
};

}  // namespace

Clock& monotonic_clock() {
  static MonotonicClock clock;
  return clock;
}

Accuracy Compute::accuracy() const {
  if (phases_ == 0) return {};
  return {relative_sum_ / double(phases_), error_sum_ / phases_, phases_};
}

void Compute::record(std::int64_t error, std::int64_t asked) {
  relative_sum_ += double(std::abs(error)) / double(asked);
  error_sum_ += std::abs(error);
  ++phases_;
}

Outcome ExactCompute::run(std::int64_t begin, std::int64_t asked) {
  if (asked <= 0) return {begin, begin};
  pass_until(begin + std::max(asked + carried_, asked / 2), asked);
  const std::int64_t end = clock_.now();
  const std::int64_t error = end - begin - asked;
  carried_ -= error;
  record(error, asked);
  return {end, end};
}

void ExactCompute::pass_until(std::int64_t deadline, std::int64_t asked) {
  const std::int64_t margin = spin_margin;
  for (;;) {
    std::int64_t now = clock_.now();
    std::int64_t left = deadline - now;
    if (left <= margin) break;
    const bool polling = progress_ && progress_->wanted();
    // A poll may find a large block to copy or add up. Shortly before the deadline that would make the phase
    // too long, so there one that lasts as long as the longest of late is not begun; of a short phase no more
    // than the last twentieth is left without polls.
    if (polling && left - margin > std::min(longest_poll_, asked / 20)) {
      progress_->poll();
      const std::int64_t after = clock_.now();
      longest_poll_ = std::max(after - now, longest_poll_ - longest_poll_ / 16);
      now = after;
      left = deadline - now;
      if (left <= margin) break;
    }
    clock_.sleep(polling ? std::min(left - margin, poll_interval) : left - margin);
  }
  while (clock_.now() < deadline) {
  }
}

Outcome SharedCompute::run(std::int64_t begin, std::int64_t asked) {
  owed_ += std::max<std::int64_t>(asked, 0);
  if (owed_ < lump) return {begin, begin};
  const std::int64_t paid = std::exchange(owed_, 0), deadline = begin + paid;
  std::int64_t now = begin;
  while (deadline - now > yield_margin) {
    const bool polling = progress_ && progress_->wanted();
    if (polling && now - last_poll_ >= poll_interval) {
      progress_->poll();
      last_poll_ = now = clock_.now();
      continue;
    }
    const std::int64_t left = deadline - yield_margin - now;
    clock_.sleep(polling ? std::min(left, poll_interval) : left);
    now = clock_.now();
  }
  while (now < deadline) {
    clock_.yield();
    now = clock_.now();
  }
  record(now - deadline, paid);
  return {deadline, now};
}

}  // namespace dlnb
