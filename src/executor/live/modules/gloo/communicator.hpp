// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "executor/live/modules/gloo/collectives.hpp"
#include "executor/live/modules/gloo/outcome.hpp"

namespace dlnb::over_gloo {

/// One rank's end of a communicator: connections of its own to every other member, and, since gloo's collectives block,
/// a thread for those that nobody waits for, as frameworks have. Its collectives run in the order in which they are
/// given; different communicators do not wait for each other.
class Communicator {
 public:
  /// `context` is null where there is one member.
  Communicator(std::shared_ptr<::gloo::Context> context, AllReduceAlgorithm algorithm)
      : context_(context), collectives_(std::move(context), algorithm) {}
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// For messages; throws where the only member would send one to itself.
  ::gloo::Context& context() const;
  /// In this thread where no collective is ahead of it.
  void run(const Transfer& transfer);
  /// `outcome` stays where it is until it is there.
  void start(const Transfer& transfer, Outcome& outcome);

 private:
  struct Job {
    Transfer transfer;
    Outcome* outcome;
  };
  void work();

  const std::shared_ptr<::gloo::Context> context_;
  Collectives collectives_;
  std::atomic<int> pending_ = 0;  // started and not yet carried out
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Job> jobs_;
  bool closing_ = false;
  std::thread worker_;  // from the first start on
};

}  // namespace dlnb::over_gloo
