// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace dlnb {

// A group's global cables are dealt to its S switches round robin, so that none has more than one cable more than
// another: the k-th of L cables to the p-th other group sits on switch (p·L + k) mod S.

/// The switch that holds cable k to other group p.
constexpr int holder(int p, int k, int cables, int switches) {
  return int((std::int64_t{p} * cables + k) % switches);
}

/// The cables to one other group that one switch holds: first, first + S, first + 2S, …
struct Dealt {
  int first = 0;
  int count = 0;
};
constexpr Dealt dealt_to(int p, int at, int cables, int switches) {
  const int first = (at - holder(p, 0, cables, switches) + switches) % switches;
  return {first, first < cables ? (cables - 1 - first) / switches + 1 : 0};
}

/// The k-th thing that is neither a nor b (they differ).
constexpr int third_of(int k, int a, int b) {
  const int low = a < b ? a : b, high = a < b ? b : a;
  if (k >= low) ++k;
  if (k >= high) ++k;
  return k;
}

}  // namespace dlnb
