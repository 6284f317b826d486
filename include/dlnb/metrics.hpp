// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dlnb/schedule.hpp>

namespace dlnb {

/// A named quantity that never travels without unit, count, spread and definition.
struct Metric {
  std::string name;
  std::string unit;
  double value = 0;
  std::int64_t count = 0;  ///< samples behind the value
  double low = 0;          ///< smallest sample
  double high = 0;         ///< largest sample
  std::string definition;
};

/// Where one rank's iteration went; the parts sum to `time` exactly. Nanoseconds.
struct Breakdown {
  std::int64_t time = 0;
  std::int64_t compute = 0;          ///< compute and everything else that is not waiting
  std::int64_t transfer = 0;         ///< exposed: data was moving
  std::int64_t straggler_wait = 0;   ///< exposed: from own arrival to the last arrival of the group
  std::int64_t pipeline_bubble = 0;  ///< exposed: a receive before its sender had posted

  std::int64_t sync() const { return transfer + straggler_wait + pipeline_bubble; }
};

/// Times of one kind of operation over ranks and iterations, seconds.
struct Spread {
  std::int64_t count = 0;
  double min = 0, mean = 0, median = 0, p95 = 0, p99 = 0, max = 0;
};

/// One row per role × axis × operation × size.
struct OperationRow {
  std::int64_t role = 0;
  std::string axis;
  OperationKind kind = OperationKind::compute;
  Phase phase = Phase::forward;
  DataType dtype = DataType::bfloat16;
  std::int64_t group_size = 1;
  std::int64_t count = 0;  ///< per rank and step
  std::int64_t bytes_each = 0;
  Spread time;         ///< first arrival of a rank to its data's completion
  double exposed = 0;  ///< mean seconds per rank and step in which compute stood still for it
  double algorithm_bandwidth =
      0;                     ///< bytes/s, nccl-tests' definition, at the median time after the last arrival
  double bus_bandwidth = 0;  ///< bytes/s
};

/// One measured iteration; breakdown of the slowest rank.
struct IterationRow {
  int iteration = 0;
  double time = 0;                    ///< slowest rank, seconds
  double communication_fraction = 0;  ///< max over ranks of sync / time
  Breakdown slowest;
};

/// What running beside other jobs cost.
struct Slowdown {
  Metric value;      ///< of iteration times, together / alone
  double alone = 0;  ///< seconds an iteration takes (geometric means)
  double together = 0;
  Breakdown added;  ///< mean ns an iteration of the slowest rank has become longer by, and for what
};

/// One bar of the timeline.
struct TimelineEvent {
  std::int64_t begin = 0, end = 0;  ///< ns since the iteration began on the earliest rank
  OperationKind kind = OperationKind::compute;
  Phase phase = Phase::forward;
  std::int32_t layer = -1, microbatch = -1;
  std::string axis;
  std::string cause;  ///< "compute", "transfer", "straggler_wait", "pipeline_bubble"
};
struct TimelineRank {
  std::int64_t rank = 0, role = 0;
  std::vector<TimelineEvent> events;
};

struct Metrics {
  std::vector<Metric> named;
  std::vector<OperationRow> operations;
  std::vector<IterationRow> iterations;
  std::vector<TimelineRank> timeline;  ///< the median iteration, of a sample of ranks that covers every role
  int timeline_iteration = 0;
  bool timeline_truncated = false;
};

}  // namespace dlnb
