// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Between two ranks of a context gloo matches what has one slot in the order in which it was posted. Its own collectives
// use the lower 48 bits; above are ours.
namespace dlnb::over_gloo {

inline std::uint64_t slot_of_message(int tag) { return std::uint64_t{1} << 63 | std::uint32_t(tag); }
inline std::uint64_t slot_of_reduce_scatter(std::uint32_t number) { return std::uint64_t{1} << 62 | number; }

}  // namespace dlnb::over_gloo
