// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace dlnb {

/// Draws that are the same everywhere. std::shuffle and std::uniform_int_distribution leave their algorithm to the
/// library; here a number below n is x mod n of the next 64-bit number x of mt19937_64(seed) that lies below the
/// largest multiple of n; larger ones are thrown away.
class Draw {
 public:
  explicit Draw(std::int64_t seed) : random_{std::uint64_t(seed)} {}

  std::uint64_t below(std::uint64_t count) {
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t limit = largest - largest % count;
    for (;;)
      if (const std::uint64_t x = random_(); x < limit) return x % count;
  }

  /// Draws the first `count` without repetition: step i of a Fisher-Yates shuffle swaps i with i + below(size - i).
  template <class T>
  void first(std::vector<T>& things, std::size_t count) {
    for (std::size_t i = 0; i < count && i < things.size(); ++i)
      std::swap(things[i], things[i + below(things.size() - i)]);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace dlnb
