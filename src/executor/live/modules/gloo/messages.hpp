// SPDX-License-Identifier: Apache-2.0
// Messages travel by themselves once they are posted. gloo lets a thread wait for one, and does not tell whether it is
// complete: a rank that wants to look without waiting has another thread wait in its place.
#pragma once

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "executor/live/transport.hpp"
#include "executor/live/worker.hpp"

namespace dlnb::over_gloo {

/// A message under way; stays where it is until it is complete.
class Message {
 public:
  void post(::gloo::Context& context, const Transfer& transfer);
  void wait();

 private:
  std::unique_ptr<::gloo::transport::UnboundBuffer> buffer_;
  bool sends_ = false;
};

/// As many threads as messages have been watched at the same time; they sleep.
class Watchers {
 public:
  Watchers() = default;
  ~Watchers();
  Watchers(const Watchers&) = delete;
  Watchers& operator=(const Watchers&) = delete;

  /// From here on nobody else waits for the message.
  void watch(Message& message, Completion& completion);

 private:
  struct Watched {
    Message* message;
    Completion* completion;
  };
  void work();

  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Watched> queue_;
  std::size_t idle_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dlnb::over_gloo
