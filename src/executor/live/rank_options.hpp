// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <optional>

#include "executor/live/fault.hpp"

namespace dlnb {

class Start;

/// What the ranks of one process share, whatever they carry out.
struct RankOptions {
  /// Where the recorders are: the folder of whoever started the ranks and reads them after it. Empty: none did, so the
  /// ranks report themselves.
  std::filesystem::path folder;
  std::optional<Fault> fault;
  bool ranks_are_threads = false;
  /// Set where the world has been ended: whoever sleeps wakes.
  std::atomic<bool>* over = nullptr;
  /// The rank's way into the world; null where ranks are threads.
  Start* start = nullptr;
};

}  // namespace dlnb
