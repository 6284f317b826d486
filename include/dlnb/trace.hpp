// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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

/// The operations of one rank in one iteration, however they are kept; by index into `execution_order` of its program.
class OperationTimes {
 public:
  OperationTimes() = default;
  explicit OperationTimes(std::span<const Interval> intervals)
      : size_(intervals.size()),
        stride_(sizeof(Interval) / sizeof(std::int64_t)),
        begin_(intervals.empty() ? nullptr : &intervals.front().begin),
        end_(intervals.empty() ? nullptr : &intervals.front().end),
        completed_(intervals.empty() ? nullptr : &intervals.front().completed) {}
  /// `boundaries`: the begin of every operation and the end of the last. `completion`: by operation, which of
  /// `completions` is its own; −1: it is complete when it ends.
  OperationTimes(std::span<const std::int32_t> completion, const std::int64_t* boundaries,
                 const std::int64_t* completions)
      : size_(completion.size()),
        begin_(boundaries),
        end_(boundaries + 1),
        completed_(completions),
        completion_(completion.data()) {}

  std::size_t size() const { return size_; }
  std::int64_t begin(std::size_t i) const { return begin_[i * stride_]; }
  std::int64_t end(std::size_t i) const { return end_[i * stride_]; }
  std::int64_t completed(std::size_t i) const {
    if (completion_ == nullptr) return completed_[i * stride_];
    return completion_[i] < 0 ? end(i) : completed_[completion_[i]];
  }
  Interval operator[](std::size_t i) const { return {begin(i), end(i), completed(i)}; }

 private:
  std::size_t size_ = 0, stride_ = 1;
  const std::int64_t *begin_ = nullptr, *end_ = nullptr, *completed_ = nullptr;
  const std::int32_t* completion_ = nullptr;
};

/// Times of the operations of a simulated rank. It goes from one operation to the next at once, so that the end of one is
/// the begin of the next; and only what it does not wait for completes at another time than it ends. Ranks that go in step
/// for the whole run, as then those do that they talk to, share the values; all ranks of a role the form.
struct SharedTimes {
  struct Form {
    std::vector<std::int32_t>
        completion;  ///< by operation: its place among the completions; −1: it has none of its own
    std::size_t completions = 0;
    /// Values of an iteration: boundaries, then completions.
    std::size_t values() const { return completion.size() + 1 + completions; }
  };
  std::shared_ptr<const Form> form;            ///< null: not simulated
  std::shared_ptr<const std::int64_t> values;  ///< iteration after iteration

  /// The first of an iteration's boundaries, which is its begin; the last is its end.
  const std::int64_t* first_of(std::size_t iteration) const {
    return values.get() + iteration * form->values();
  }
  OperationTimes iteration(std::size_t index) const {
    const std::int64_t* const boundaries = first_of(index);
    return {form->completion, boundaries, boundaries + form->completion.size() + 1};
  }
};

/// One rank. Its times are kept in one of two forms, read as one.
struct RankTrace {
  std::int64_t rank = 0;
  std::vector<std::int64_t> iteration_begin;  ///< live: per measured iteration
  std::vector<std::int64_t> iteration_end;    ///< live
  std::vector<Interval> intervals;            ///< live: `intervals[iteration * operations + index]`
  SharedTimes simulated;
  double compute_error = 0;  ///< mean |measured − asked| / asked of its compute phases; 0 when simulated
  std::int64_t compute_error_ns = 0;  ///< mean |measured − asked|

  /// Operations of an iteration; 0 without iterations.
  std::size_t operations() const {
    if (simulated.form != nullptr) return simulated.form->completion.size();
    return iteration_begin.empty() ? 0 : intervals.size() / iteration_begin.size();
  }
  /// When an iteration began and ended, of those kept, by index from 0.
  std::int64_t begin_of(std::size_t index) const {
    return simulated.form != nullptr ? simulated.first_of(index)[0] : iteration_begin[index];
  }
  std::int64_t end_of(std::size_t index) const {
    return simulated.form != nullptr ? simulated.first_of(index)[operations()] : iteration_end[index];
  }
  /// Of those kept, by index from 0.
  OperationTimes iteration(std::size_t index) const {
    if (simulated.form != nullptr) return simulated.iteration(index);
    return OperationTimes(std::span(intervals).subspan(index * operations(), operations()));
  }
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
