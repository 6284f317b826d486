// SPDX-License-Identifier: Apache-2.0
#include "executor/live/stop.hpp"

namespace dlnb {
namespace {

// Signals belong to the process, so these are the globals of a live run.
std::atomic<int> first_signal = 0, second_signal = 0;
std::atomic<bool> tells_second = false;
std::atomic<std::atomic<int>*> mirror_place = nullptr;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::atomic<int>*>::is_always_lock_free);

}  // namespace

StopSignals::StopSignals(Second second) {
  first_signal = second_signal = 0;
  tells_second = second == Second::is_told;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    struct sigaction action{};
    action.sa_handler = [](int signal) {
      int none = 0;
      if (!first_signal.compare_exchange_strong(none, signal, std::memory_order_relaxed) &&
          signal != SIGUSR1) {
        const bool is_told = tells_second && second_signal.exchange(signal, std::memory_order_relaxed) == 0;
        if (!is_told) std::signal(signal, SIG_DFL), std::raise(signal);
      }
      if (std::atomic<int>* const place = mirror_place.load())
        place->compare_exchange_strong(none = 0, signal, std::memory_order_relaxed);
    };
    action.sa_flags = SA_RESTART;
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
int StopSignals::second() { return second_signal.load(std::memory_order_relaxed); }

}  // namespace dlnb
