// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stdexcept>

#include "executor/live/modules/gloo/collectives.hpp"
#include "executor/live/worker.hpp"

namespace dlnb::over_gloo {

/// One rank's end of a communicator: connections of its own to every other member, and, since gloo's collectives block,
/// a worker for them. Different communicators do not wait for each other.
class Communicator {
 public:
  /// `context` is null where there is one member.
  Communicator(std::shared_ptr<::gloo::Context> context, AllReduceAlgorithm algorithm)
      : context_(context), collectives_(std::move(context), algorithm) {}

  /// For messages; throws where the only member would send one to itself.
  ::gloo::Context& context() const {
    if (!context_) throw std::runtime_error("gloo: a rank cannot send a message to itself");
    return *context_;
  }
  void run(const Transfer& transfer) { worker_.run(transfer); }
  void start(const Transfer& transfer, Completion& completion) { worker_.start(transfer, completion); }

 private:
  const std::shared_ptr<::gloo::Context> context_;
  Collectives collectives_;
  Worker worker_{[this](const Transfer& transfer) { collectives_.run(transfer); }};
};

}  // namespace dlnb::over_gloo
