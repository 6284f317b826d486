// SPDX-License-Identifier: Apache-2.0
// A thread for collectives that block, as frameworks have one for each process group. The program and the modules each
// compile it for themselves.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "executor/live/transport.hpp"

namespace dlnb {

/// How a transfer ended that another thread sees through.
class Completion {
 public:
  void begin() { state_.store(State::open, std::memory_order_relaxed); }
  /// `failure` is null where it succeeded.
  void end(std::exception_ptr failure) {
    failure_ = std::move(failure);
    state_.store(failure_ ? State::failed : State::done, std::memory_order_release);
    state_.notify_one();
  }

  bool is_there() const { return state_.load(std::memory_order_acquire) != State::open; }
  /// Waits until it is; throws what the transfer failed with.
  void settle() {
    state_.wait(State::open, std::memory_order_acquire);
    if (state_.load(std::memory_order_acquire) == State::failed) std::rethrow_exception(failure_);
  }

 private:
  enum class State : int { open, done, failed };

  std::atomic<State> state_ = State::done;
  std::exception_ptr failure_;
};

/// Carries out the collectives of one communicator in the order in which they are given, those that nobody waits for in a
/// thread of its own.
class Worker {
 public:
  /// `enter` is called once in the thread, before the first.
  explicit Worker(
      std::function<void(const Transfer&)> carry_out, std::function<void()> enter = [] {})
      : carry_out_(std::move(carry_out)), enter_(std::move(enter)) {}
  ~Worker() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    arrived_.notify_one();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Whether all it was given has been carried out, so that whoever asks may run the next one.
  bool idle() const { return pending_.load(std::memory_order_acquire) == 0; }

  /// In the caller's thread where none is ahead of it.
  void run(const Transfer& transfer) {
    if (idle()) return carry_out_(transfer);
    Completion completion;
    start(transfer, completion);
    completion.settle();
  }

  /// `completion` stays where it is until it is there.
  void start(const Transfer& transfer, Completion& completion) {
    completion.begin();
    pending_.fetch_add(1, std::memory_order_relaxed);
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back({transfer, &completion});
    }
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    arrived_.notify_one();
  }

 private:
  struct Job {
    Transfer transfer;
    Completion* completion;
  };

  template <class Work>
  static std::exception_ptr failure_of(Work&& work) {
    try {
      work();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

  void work() {
    const std::exception_ptr unable = failure_of(enter_);
    std::unique_lock lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const Job job = jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      const std::exception_ptr failure = unable ? unable : failure_of([&] { carry_out_(job.transfer); });
      // Before the completion: whoever has seen that may run the next one itself.
      pending_.fetch_sub(1, std::memory_order_release);
      job.completion->end(failure);
      lock.lock();
    }
  }

  const std::function<void(const Transfer&)> carry_out_;
  const std::function<void()> enter_;
  std::atomic<int> pending_ = 0;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Job> jobs_;
  bool closing_ = false;
  std::thread thread_;  // from the first start on
};

}  // namespace dlnb
