// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dlnb {

/// How many ranks each of these hosts is given: block after block, one more on the first hosts where it does not come
/// out even. Hosts beyond the number of ranks are left out.
inline std::vector<std::int64_t> host_blocks(std::int64_t ranks, std::size_t hosts) {
  const auto most = std::int64_t(hosts);
  std::vector<std::int64_t> blocks;
  for (std::int64_t host = 0; host < most && host < ranks; ++host)
    blocks.push_back(ranks / most + (host < ranks % most ? 1 : 0));
  return blocks;
}

}  // namespace dlnb
