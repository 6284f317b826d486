// SPDX-License-Identifier: Apache-2.0
// Other programs as our children.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace dlnb {

/// The signals that concern who has children (to end, and that one has ended), held back so that they can be taken one by
/// one.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  const sigset_t& before() const { return before_; }
  const sigset_t& held() const { return held_; }

 private:
  sigset_t held_, before_;
};

/// Starts a program (a full path and its arguments, no shell) in a process group of its own, with nothing to read and
/// `mask` of signals, our environment and `added` to it. Its stdout is ours, nowhere where it is `quiet`, or `output`. It is
/// told to end should we die first. Throws Unavailable.
pid_t start_process(std::vector<std::string> command,
                    const std::vector<std::pair<std::string, std::string>>& added, const sigset_t& mask,
                    bool quiet = false, int output = -1);

}  // namespace dlnb
