// SPDX-License-Identifier: Apache-2.0
#include "core/progress.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>

namespace dlnb::progress {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int width = 30;

// There is one terminal; the ranks of a live run may be threads, of which one reports and any may talk.
std::atomic<bool> on{false}, shown{false};

void say(const std::string& text) {
  // A bar that cannot be written is no reason to stop.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

void switch_on() { on = true; }
bool is_on() { return on; }

void report(const char* what, std::int64_t done, std::int64_t of) {
  if (!on.load(std::memory_order_relaxed)) return;
  static std::optional<Clock::time_point> next;
  const Clock::time_point now = Clock::now();
  if (!next) next = now + 1s;
  if (now < *next) return;
  next = now + 100ms;
  shown = true;
  // A run that goes on for --min-time has no known end.
  if (of <= 0 || done > of) return say(fmt::format("\r{} {}\033[K", what, done));
  const int filled = int(done * width / of);
  say(fmt::format("\r{} [{}{}] {} of {}\033[K", what, std::string(std::size_t(filled), '#'),
                  std::string(std::size_t(width - filled), '.'), done, of));
}

void clear() {
  if (shown.exchange(false)) say("\r\033[K");
}

}  // namespace dlnb::progress
