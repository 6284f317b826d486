// SPDX-License-Identifier: Apache-2.0
#include "executor/live/gpu/worker.hpp"

namespace dlnb::gpu {

void Worker::Outcome::settle() {
  state_.wait(State::open, std::memory_order_acquire);
  if (state_.load(std::memory_order_acquire) == State::failed) std::rethrow_exception(failure_);
}

void Worker::Outcome::end(State state) {
  state_.store(state, std::memory_order_release);
  state_.notify_one();
}

Worker::~Worker() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

void Worker::start(const Transfer& transfer, Outcome& outcome) {
  outcome.state_.store(Outcome::State::open, std::memory_order_relaxed);
  pending_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({transfer, &outcome});
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  arrived_.notify_one();
}

void Worker::work() {
  std::exception_ptr unable;
  try {
    enter_();
  } catch (...) {
    unable = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    std::exception_ptr failure = unable;
    if (!failure) try {
        carry_out_(job.transfer);
      } catch (...) {
        failure = std::current_exception();
      }
    // Before the outcome: whoever has seen it may run the next one itself.
    pending_.fetch_sub(1, std::memory_order_release);
    job.outcome->failure_ = failure;
    job.outcome->end(failure ? Outcome::State::failed : Outcome::State::done);
    lock.lock();
  }
}

}  // namespace dlnb::gpu
