// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <dlnb/units.hpp>

// Sums in the element types of messages, for libraries that have no such type (MPI) and for the reference
// backend. Every sum is computed in float32 and rounded to nearest, ties to even.
namespace dlnb::reduction {

/// The value an element stands for, and back. float8 is E4M3 of the OCP 8-bit floating point
/// specification 1.0 (no infinities, largest 448); values beyond it saturate.
float decode(DataType type, const std::byte* element);
void encode(DataType type, float value, std::byte* element);

/// sum[i] += term[i], rounded to the type.
void add(DataType type, const std::byte* term, std::byte* sum, std::int64_t elements);

/// Float32 working space: sum[i] += term[i], and rounding the result to the type.
void accumulate(DataType type, const std::byte* term, float* sum, std::int64_t elements);
void round_to(DataType type, const float* sum, std::byte* out, std::int64_t elements);

}  // namespace dlnb::reduction
