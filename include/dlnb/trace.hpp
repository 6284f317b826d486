// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dlnb {

/// When one operation of one rank in one iteration happened. Nanoseconds since a common start,
/// already on one clock.
struct Interval {
  std::int64_t begin = 0;  ///< the rank reached the operation
  std::int64_t end = 0;    ///< the rank went on to the next
  std::int64_t completed =
      0;  ///< the data had moved or the compute was done; = end unless non-blocking or out of cores
};

/// One rank: `intervals[iteration * operations + index]`, indices into `execution_order` of its program.
struct RankTrace {
  std::int64_t rank = 0;
  std::vector<std::int64_t> iteration_begin;  ///< per measured iteration
  std::vector<std::int64_t> iteration_end;
  std::vector<Interval> intervals;
  double compute_error = 0;  ///< mean |measured − asked| / asked of its compute phases; 0 when simulated
  std::int64_t compute_error_ns = 0;  ///< mean |measured − asked|
};

/// What happened, live or simulated. Iterations of all ranks are the same measured ones; warm-up is not in it.
struct Trace {
  std::string executor;  ///< "sim", "mpi", "threads"
  std::string library;   ///< "Open MPI 4.1.4", …
  int iterations = 0;
  std::vector<RankTrace> ranks;     ///< ascending
  std::int64_t clock_bound_ns = 0;  ///< clocks of two ranks differ by at most this
  bool valid = true;
  std::vector<std::string> notes;  ///< why INVALID, that spinning was off, what progress was used
};

}  // namespace dlnb
