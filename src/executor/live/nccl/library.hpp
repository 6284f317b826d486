// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "executor/live/gpu/driver.hpp"
#include "executor/live/handle.hpp"
#include "executor/live/nccl/functions.hpp"

namespace dlnb::nccl {

using OwnedCommunicator = Handle<Communicator, Result>;

/// NCCL or RCCL, loaded when it is first asked for.
struct Library {
  std::string_view title;  ///< "NCCL"
  gpu::Vendor vendor = gpu::Vendor::nvidia;
  Functions call{};
  int version = 0;      ///< as ncclGetVersion numbers them
  std::string problem;  ///< why it cannot be used, and what to do; empty where it can

  std::string name() const;  ///< "NCCL 2.32.3"
  /// Throws std::runtime_error "NCCL 2.32.3: ncclSend: …". What the library said last is asked of the communicator.
  void check(Result result, std::string_view what, Communicator communicator = nullptr) const {
    if (result != Result::success) fail(result, what, communicator);
  }

 private:
  [[noreturn]] void fail(Result result, std::string_view what, Communicator communicator) const;
};

const Library& library_of(gpu::Vendor vendor);

/// Why a backend of this library cannot be used here: no library, or no accelerator; empty where it can.
std::string missing(gpu::Vendor vendor);

}  // namespace dlnb::nccl
