// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "executor/live/gpu/driver.hpp"

namespace dlnb::gpu {

/// Where a rank is, and the accelerators it may use.
struct Offer {
  std::string machine;               ///< equal for ranks that share one
  std::string host;                  ///< its name
  std::string network;               ///< equal for ranks that share one, loopback included
  std::vector<std::string> devices;  ///< PCI addresses, in the order in which the driver numbers them
};

/// This process' own, on its way to whoever decides.
std::string packed_offer(const Driver& driver);
Offer unpacked_offer(const std::string& text);

/// One of its devices for every rank, or why that cannot be.
struct Places {
  std::vector<int> devices;  ///< by rank, as its driver numbers them
  std::string problem;
};

/// Ranks of one machine take the first device that no other has, in ascending order. So the n-th rank gets the n-th
/// device where all see all, and its own where the launcher lets each see one (CUDA_VISIBLE_DEVICES).
Places choose_devices(const std::vector<Offer>& offers);

}  // namespace dlnb::gpu
