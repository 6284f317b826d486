// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dlnb/links.hpp>

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

/// Some iterations in a row, of one rank or of all: what is left of them in a run too long to keep each.
/// Nanoseconds, summed over the iterations; of all ranks those of the slowest.
struct SeriesRow {
  std::int64_t iteration = 0;  ///< the first
  std::int64_t count = 0;
  std::int64_t time = 0;
  std::int64_t low = 0, high = 0;  ///< of one iteration
  std::int64_t communication = 0;  ///< of `time`, outside compute
};

/// A rank that others waited for in vain.
struct LostRankState {
  std::int64_t rank = 0;
  std::string state;  ///< "its process is stopped"
  std::string place;  ///< "last seen in compute (operation 11) of iteration 4"
};

/// Where a rank of a live run was.
struct RankBinding {
  std::int64_t rank = 0;
  std::string host;
  std::string cores;   ///< hardware threads by the kernel's numbers, "0-3,8"
  bool bound = false;  ///< to them by this run; else it was only allowed there
  int numa = -1;       ///< NUMA node of what it is bound to; −1: not one
  std::string gpu;     ///< PCI address of the one it is bound near to; empty: none
};

/// What a rank's share of the counters of its machine counted from before the first measured iteration to behind the
/// last.
struct RankEnergy {
  std::int64_t rank = 0;
  double joules = 0;
  double seconds = 0;
};

/// What happened, live or simulated. Iterations of all ranks are the same measured ones; warm-up is not in it.
struct Trace {
  std::string executor;  ///< "sim", "mpi", "threads"
  std::string library;   ///< "Open MPI 4.1.4", …
  int iterations = 0;
  std::int64_t first_iteration = 0;  ///< of those kept; a run without end keeps the latest only
  std::vector<RankTrace> ranks;      ///< ascending
  std::int64_t clock_bound_ns = 0;   ///< clocks of two ranks differ by at most this
  std::string stopped_by;            ///< live: "iterations", "min_time", "spread", …, "SIGTERM", "lost_rank"
  std::vector<SeriesRow> series;     ///< of a run without end: all its iterations
  std::vector<LostRankState> lost;
  bool valid = true;
  std::vector<RankBinding> binding;  ///< live; by rank
  std::vector<RankEnergy> energy;    ///< by rank; empty where a machine has no counter
  std::string energy_method;         ///< how it was counted
  LinkReport links;                  ///< simulated
  std::vector<std::string> notes;    ///< why INVALID, that spinning was off, what progress was used
};

}  // namespace dlnb
