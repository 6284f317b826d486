// SPDX-License-Identifier: Apache-2.0
#include "executor/live/stop.hpp"

#include <atomic>

namespace dlnb {
namespace {

// Signals belong to the process, so this is the one global of a live run.
std::atomic<int> first_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

StopSignals::StopSignals() {
  first_signal = 0;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    struct sigaction action{};
    action.sa_handler = [](int signal) {
      int none = 0;
      first_signal.compare_exchange_strong(none, signal, std::memory_order_relaxed);
    };
    action.sa_flags = SA_RESTART | (signals[i] == SIGUSR1 ? 0 : int(SA_RESETHAND));
    sigaction(signals[i], &action, &before_[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < std::size(signals); ++i) sigaction(signals[i], &before_[i], nullptr);
}

int StopSignals::first() { return first_signal.load(std::memory_order_relaxed); }

}  // namespace dlnb
