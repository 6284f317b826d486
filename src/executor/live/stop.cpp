// SPDX-License-Identifier: Apache-2.0
#include "executor/live/stop.hpp"

#include <atomic>

namespace dlnb {
namespace {

// Signals belong to the process, so this is the one global of a live run.
std::atomic<bool> stop_asked = false;

}  // namespace

StopSignals::StopSignals() {
  stop_asked = false;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    struct sigaction action{};
    action.sa_handler = [](int) { stop_asked.store(true, std::memory_order_relaxed); };
    action.sa_flags = SA_RESTART | (signals[i] == SIGUSR1 ? 0 : int(SA_RESETHAND));
    sigaction(signals[i], &action, &before_[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < std::size(signals); ++i) sigaction(signals[i], &before_[i], nullptr);
}

bool StopSignals::asked() { return stop_asked.load(std::memory_order_relaxed); }

}  // namespace dlnb
