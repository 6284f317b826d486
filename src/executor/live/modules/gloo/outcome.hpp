// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <exception>

namespace dlnb::over_gloo {

/// How a transfer ended that another thread sees through.
class Outcome {
 public:
  void begin() { state_.store(State::open, std::memory_order_relaxed); }
  void succeed() { end(State::done); }
  void fail(std::exception_ptr failure) {
    failure_ = std::move(failure);
    end(State::failed);
  }

  bool is_there() const { return state_.load(std::memory_order_acquire) != State::open; }
  /// Waits until it is; throws what the transfer failed with.
  void settle() {
    state_.wait(State::open, std::memory_order_acquire);
    if (state_.load(std::memory_order_acquire) == State::failed) std::rethrow_exception(failure_);
  }

 private:
  enum class State : int { open, done, failed };

  void end(State state) {
    state_.store(state, std::memory_order_release);
    state_.notify_one();
  }

  std::atomic<State> state_ = State::done;
  std::exception_ptr failure_;
};

}  // namespace dlnb::over_gloo
