// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules/gloo/communicator.hpp"

#include <stdexcept>
#include <utility>

namespace dlnb::over_gloo {

Communicator::~Communicator() {
  if (!worker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  arrived_.notify_one();
  worker_.join();
}

::gloo::Context& Communicator::context() const {
  if (!context_) throw std::runtime_error("gloo: a rank cannot send a message to itself");
  return *context_;
}

void Communicator::run(const Transfer& transfer) {
  if (pending_.load(std::memory_order_acquire) == 0) return collectives_.run(transfer);
  Outcome outcome;
  start(transfer, outcome);
  outcome.settle();
}

void Communicator::start(const Transfer& transfer, Outcome& outcome) {
  outcome.begin();
  pending_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({transfer, &outcome});
  }
  if (!worker_.joinable()) worker_ = std::thread([this] { work(); });
  arrived_.notify_one();
}

void Communicator::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = jobs_.front();
    jobs_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      collectives_.run(job.transfer);
    } catch (...) {
      failure = std::current_exception();
    }
    // Before the outcome: whoever has seen it may run the next one itself.
    pending_.fetch_sub(1, std::memory_order_release);
    failure ? job.outcome->fail(failure) : job.outcome->succeed();
    lock.lock();
  }
}

}  // namespace dlnb::over_gloo
