// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>

namespace dlnb {

/// While it lives, SIGINT, SIGTERM and SIGUSR1 ask for an end after the current iteration.
/// A second SIGINT or SIGTERM acts as usual; where it `is_told`, the third does.
class StopSignals {
 public:
  enum class Second { acts_as_usual, is_told };

  explicit StopSignals(Second second = Second::acts_as_usual);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// The first of these signals that came; 0 where none has.
  static int first();
  /// The second; 0 where there was none that is told.
  static int second();
  /// Where the handler writes it as well, for others to see however soon the process ends; null: nowhere.
  static void mirror(std::atomic<int>* place);

 private:
  static constexpr int signals[] = {SIGINT, SIGTERM, SIGUSR1};
  struct sigaction before_[3];
};

}  // namespace dlnb
