// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace dlnb {

/// While it lives, SIGINT, SIGTERM and SIGUSR1 ask for an end after the current iteration.
/// A second SIGINT or SIGTERM acts as usual.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool asked();

 private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGUSR1};
  struct sigaction before_[3];
};

}  // namespace dlnb
