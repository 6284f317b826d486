// SPDX-License-Identifier: Apache-2.0
#include "executor/live/thread_room.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <dlnb/error.hpp>
#include <dlnb/units.hpp>

#include "executor/live/hosts.hpp"

namespace dlnb {
namespace {

// Resident memory of one iteration of plan dp, model vit-b, scale 1/65536: 57 MB with 50 ranks, 430 MB with 400, 948 MB with
// 800, which is a·n + b·n²: every rank keeps lists of all ranks.
constexpr std::int64_t bytes_per_rank = 800'000, bytes_per_pair = 600;

/// "max" and files that cannot be read are no limit.
std::int64_t limit_in(const char* file) {
  std::int64_t limit = 0;
  return std::ifstream(file) >> limit ? limit : std::numeric_limits<std::int64_t>::max();
}

}  // namespace

void check_room_for_threads(std::int64_t ranks, bool helper_threads) {
  const std::int64_t threads = ranks * (helper_threads ? 3 : 2);  // the rank, its watchdog, its helper
  const std::int64_t most =
      std::min({limit_in("/proc/sys/kernel/threads-max"), limit_in("/proc/sys/kernel/pid_max"),
                limit_in("/sys/fs/cgroup/pids.max")});
  if (threads > most)
    throw Unavailable(
        "--ranks", fmt::format("{} ranks are {} threads; the system gives at most {}", ranks, threads, most),
        "use fewer ranks, or another backend on several hosts");
  const std::int64_t needed = ranks * (bytes_per_rank + ranks * bytes_per_pair),
                     available = facts_of_this_host().available;
  if (available >= 0 && needed > available)
    throw UserError(
        "--ranks",
        fmt::format("{} ranks as threads of one process need about {} besides their buffers; {} is "
                    "available",
                    ranks, to_text(Bytes{needed}), to_text(Bytes{available})),
        "use fewer ranks, or another backend on several hosts");
}

}  // namespace dlnb
