// SPDX-License-Identifier: Apache-2.0
// How a vector is cut: into n parts that differ by one element at most, the first of them the smaller.
#pragma once

#include <algorithm>
#include <cstdint>

#include <dlnb/collective.hpp>

namespace dlnb::collectives {

struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Part `i` of `n` of another part.
inline Part part_of(Part whole, std::int64_t i, std::int64_t n) {
  const auto begin = [&](std::int64_t k) { return whole.count / n * k + whole.count % n * k / n; };
  return {whole.first + begin(i), begin(i + 1) - begin(i)};
}

/// How many of n equal parts are messages; of nothing all are.
inline std::int64_t parts_sent(std::int64_t elements, std::int64_t n) {
  return elements == 0 ? n : std::min(elements, n);
}

inline Hop hop(int from, int to, Part part, bool reduces) {
  return {from, to, part.first, part.count, reduces};
}

/// Pieces a vector is handed on in by algorithms that pipeline it, where it has that many elements.
inline constexpr std::int64_t pieces = 32;

}  // namespace dlnb::collectives
