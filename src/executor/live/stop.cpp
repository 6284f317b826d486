// SPDX-License-Identifier: Apache-2.0
#include "executor/live/stop.hpp"

namespace dlnb {
namespace {

// Signals belong to the process, so these are the globals of a live run.
std::atomic<int> first_signal = 0;
std::atomic<std::atomic<int>*> mirror_place = nullptr;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::atomic<int>*>::is_always_lock_free);

}  // namespace

StopSignals::StopSignals() {
  first_signal = 0;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    struct sigaction action{};
    action.sa_handler = [](int signal) {
      int none = 0;
      first_signal.compare_exchange_strong(none, signal, std::memory_order_relaxed);
      if (std::atomic<int>* const place = mirror_place.load())
        place->compare_exchange_strong(none = 0, signal, std::memory_order_relaxed);
    };
    action.sa_flags = SA_RESTART | (signals[i] == SIGUSR1 ? 0 : int(SA_RESETHAND));
    sigaction(signals[i], &action, &before_[i]);
  }
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < std::size(signals); ++i) sigaction(signals[i], &before_[i], nullptr);
}

void StopSignals::mirror(std::atomic<int>* place) {
  if (place) place->store(first());
  mirror_place = place;
}

int StopSignals::first() { return first_signal.load(std::memory_order_relaxed); }

}  // namespace dlnb
