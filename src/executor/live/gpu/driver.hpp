// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/live/gpu/functions.hpp"

namespace dlnb::gpu {

enum class Vendor { nvidia, amd };

/// The driver of a vendor's accelerators, loaded when it is first asked for.
struct Driver {
  std::string_view title;  ///< "CUDA", "HIP"
  Functions call{};
  std::string problem;  ///< why no accelerator can be used through it; empty where one can
  int devices = 0;

  /// Throws std::runtime_error "CUDA: cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY, 2)".
  void check(Status status, std::string_view what) const {
    if (status != Status::success) fail(status, what);
  }
  std::string text_of(Status status) const;

 private:
  [[noreturn]] void fail(Status status, std::string_view what) const;
};

const Driver& driver_of(Vendor vendor);

}  // namespace dlnb::gpu
