// SPDX-License-Identifier: Apache-2.0
// gloo's own reduce-scatter (2017) wants its buffers when it is set up, counts in int and leaves what is not a power of
// two to a special case; no framework uses it. This one is a pairwise exchange over gloo's messages: in step d of
// n − 1 every member sends the shard of the member d places on, receives its own from the member d places back, and adds
// it up.
//   bytes sent per rank (n−1)/n · S, as a ring; nothing is forwarded, so there is no second copy of the data
// Shards travel in segments, of which one is under way while another is added up.
#pragma once

#include <gloo/context.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor/live/transport.hpp"

namespace dlnb::over_gloo {

class ReduceScatter {
 public:
  static constexpr std::int64_t segment_bytes = 1 << 20;

  void run(::gloo::Context& context, const Transfer& transfer, std::uint64_t slot);

 private:
  std::vector<std::byte> scratch_;  // two segments
};

}  // namespace dlnb::over_gloo
