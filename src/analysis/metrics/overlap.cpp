// SPDX-License-Identifier: Apache-2.0
// How much of the time in which non-blocking operations were under way the rank computed. With T_i = [issued, complete)
// of the operations i of a rank and C the union of its compute phases, in one iteration
//   overlap = Σ_i |T_i ∩ C| / Σ_i |T_i|
// `complete` is when it was seen: a library that moves nothing while the rank computes (progress none) keeps operations
// under way that could have been over, and they count as overlapped. What stays exposed is `transfer`.
#include <algorithm>
#include <optional>

#include "analysis/analysis.hpp"
#include "analysis/samples.hpp"

namespace dlnb::metrics {
namespace {

/// Nanoseconds of compute before a moment, for moments in any order.
class Computed {
 public:
  void add(std::int64_t begin, std::int64_t end) {
    if (end > begin) phases_.push_back({begin, end, sum_}), sum_ += end - begin;
  }
  void clear() { phases_.clear(), sum_ = 0; }

  std::int64_t until(std::int64_t moment) const {
    const auto next = std::ranges::upper_bound(phases_, moment, {}, &Phase::begin);
    if (next == phases_.begin()) return 0;
    const Phase& phase = *(next - 1);
    return phase.before + std::min(moment, phase.end) - phase.begin;
  }

 private:
  struct Phase {
    std::int64_t begin, end, before;
  };
  std::vector<Phase> phases_;  // ascending: one rank computes one thing at a time
  std::int64_t sum_ = 0;
};

/// The operations of a program that are looked at.
struct Watched {
  std::vector<std::size_t> computes, under_way;
};

Watched watched_of(const Program& program) {
  Watched watched;
  const std::vector<Operation> operations = execution_order(program);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].kind == OperationKind::compute) watched.computes.push_back(i);
    if (moves_data(operations[i].kind) && !operations[i].blocking) watched.under_way.push_back(i);
  }
  return watched;
}

/// The mean over the iterations in which a rank of this program has operations under way for any time.
std::optional<double> overlap_of(const Watched& watched, const RankTrace& rank, int iterations,
                                 Computed& computed) {
  if (watched.under_way.empty()) return std::nullopt;
  double sum = 0;
  int count = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const OperationTimes times = rank.iteration(std::size_t(iteration));
    computed.clear();
    for (const std::size_t i : watched.computes) computed.add(times.begin(i), times.completed(i));
    std::int64_t hidden = 0, under_way = 0;
    for (const std::size_t i : watched.under_way) {
      const std::int64_t issued = times.begin(i), complete = std::max(times.completed(i), issued);
      under_way += complete - issued;
      hidden += computed.until(complete) - computed.until(issued);
    }
    if (under_way > 0) sum += double(hidden) / double(under_way), ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

Metric measure(const Attribution& attribution) {
  const Trace& trace = *attribution.trace;
  std::vector<Watched> programs;
  for (const Program& program : attribution.schedule->programs) programs.push_back(watched_of(program));
  Computed computed;
  std::vector<double> samples;
  for (const RankTrace& rank : trace.ranks) {
    const Program& program = attribution.schedule->program_of(rank.rank);
    const auto role = std::size_t(&program - attribution.schedule->programs.data());
    if (const auto overlap = overlap_of(programs[role], rank, trace.iterations, computed))
      samples.push_back(*overlap);
  }
  return arithmetic_mean(samples);
}

}  // namespace

extern constinit const MetricKind overlap{
    .name = "overlap",
    .unit = "1",
    .definition =
        "Share of the time in which non-blocking operations of a rank were under way, from being issued to "
        "being "
        "seen complete, that fell into its compute phases; mean over the iterations of a rank, then over "
        "ranks.",
    .measure = measure,
};

}  // namespace dlnb::metrics
