// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include "executor/live/compute.hpp"
#include "executor/live/transport.hpp"

namespace dlnb {

/// Who moves data while a rank computes: nobody, the rank itself every 200 µs, or a helper thread.
enum class ProgressMode { none, poll, thread };

const char* name_of(ProgressMode mode);
/// "auto" is poll. Throws UserError.
ProgressMode progress_mode(std::string_view word);

/// The non-blocking transfers a rank has outstanding, and when each was seen to be complete.
class Outstanding : public Progress {
 public:
  Outstanding(Transport& transport, Clock& clock, int slots)
      : transport_(transport), clock_(clock), completed_(std::size_t(slots)) {}

  virtual void start(int slot, const Transfer& transfer) = 0;
  /// Returns when the slot was seen complete.
  virtual std::int64_t wait(int slot) = 0;
  /// After a failure: returns when no transfer uses a buffer any more.
  virtual void drain() noexcept = 0;

 protected:
  Transport& transport_;
  Clock& clock_;
  std::vector<std::int64_t> completed_;  // by slot; 0 while outstanding
};

std::unique_ptr<Outstanding> make_outstanding(ProgressMode mode, Transport& transport, Clock& clock,
                                              int slots);

}  // namespace dlnb
