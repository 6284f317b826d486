// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "executor/live/transport.hpp"

namespace dlnb::gpu {

/// A thread that carries out the collectives of one communicator by blocking ones, in the order in which they are given,
/// as PyTorch's process groups do.
class Worker {
 public:
  /// How a transfer ended.
  class Outcome {
   public:
    bool is_there() const { return state_.load(std::memory_order_acquire) != State::open; }
    /// Waits until it is; throws what the transfer failed with.
    void settle();

   private:
    friend class Worker;
    enum class State : int { open, done, failed };
    void end(State state);

    std::atomic<State> state_ = State::done;
    std::exception_ptr failure_;
  };

  /// `carry_out` runs in the worker's thread, after `enter` has once.
  Worker(std::function<void()> enter, std::function<void(const Transfer&)> carry_out)
      : enter_(std::move(enter)), carry_out_(std::move(carry_out)) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Whether all it was given has been carried out, so that the next one may be run by whoever asks.
  bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }
  /// `outcome` stays where it is until it is there.
  void start(const Transfer& transfer, Outcome& outcome);

 private:
  struct Job {
    Transfer transfer;
    Outcome* outcome;
  };
  void work();

  const std::function<void()> enter_;
  const std::function<void(const Transfer&)> carry_out_;
  std::atomic<int> pending_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Job> jobs_;
  bool closing_ = false;
  std::thread thread_;  // from the first start on
};

}  // namespace dlnb::gpu
