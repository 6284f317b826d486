// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/ccl.hpp>

#include <array>

#include <dlnb/units.hpp>

namespace dlnb::oneccl {

/// How elements of a type are moved and added up.
struct Sum {
  ccl::datatype type;
  ccl::reduction operation;
  ccl::allreduce_attr all_reduce;
};

/// oneCCL knows float32, bfloat16 and, on processors with F16C, float16. Other types are unsigned integers of their size
/// to it, added up by our own function (executor/live/reduction.hpp), for which it has an all-reduce only. A bfloat16 sum
/// of oneCCL is cut, not rounded, on processors without AVX512-BF16.
class Sums {
 public:
  /// `own`: ours also where oneCCL has one, except for float32.
  explicit Sums(bool own);
  const Sum& of(DataType type) const { return sums_[std::size_t(type)]; }
  bool is_ours(DataType type) const { return of(type).operation == ccl::reduction::custom; }

 private:
  std::array<Sum, 4> sums_;
};

}  // namespace dlnb::oneccl
