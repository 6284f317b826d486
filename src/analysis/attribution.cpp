// SPDX-License-Identifier: Apache-2.0
// compute = time − (transfer + straggler wait + pipeline bubble): the pieces of `walk` are disjoint and
// inside the iteration, so the remainder is never negative and the sum is exact in integers.
#include "analysis/attribution.hpp"

#include <dlnb/error.hpp>

#include "analysis/walk.hpp"

namespace dlnb {

Attribution attribute(const Schedule& schedule, const Trace& trace, Arrivals& arrivals) {
  OperationTallies tallies(arrivals.matching(), trace.iterations);
  return attribute(schedule, trace, arrivals, tallies);
}

Attribution attribute(const Schedule& schedule, const Trace& trace, Arrivals& arrivals,
                      OperationTallies& tallies) {
  Attribution attribution{&schedule, &trace, {}};
  attribution.of.assign(trace.ranks.size(), std::vector<Breakdown>(std::size_t(trace.iterations)));
  Walk scratch;
  for (int iteration = 0; iteration < trace.iterations; ++iteration) {
    arrivals.load(iteration);
    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
      Breakdown& breakdown = attribution.of[rank][std::size_t(iteration)];
      if (const auto stand_in = std::size_t(arrivals.stand_in(std::int64_t(rank))); stand_in != rank) {
        breakdown = attribution.of[stand_in][std::size_t(iteration)];
        continue;
      }
      const std::int64_t alike = arrivals.alike(std::int64_t(rank));
      breakdown.time = trace.ranks[rank].end_of(std::size_t(iteration)) -
                       trace.ranks[rank].begin_of(std::size_t(iteration));
      DLNB_REQUIRE(breakdown.time >= 0, "an iteration ends after it begins");
      walk(arrivals, std::int64_t(rank), scratch,
           [&](OperationIndex index, Cause cause, std::int64_t begin, std::int64_t end) {
             if (cause == Cause::compute) return;
             tallies.add_exposed(std::int64_t(rank), index, alike * (end - begin));
             if (cause == Cause::transfer) breakdown.transfer += end - begin;
             if (cause == Cause::straggler_wait) breakdown.straggler_wait += end - begin;
             if (cause == Cause::pipeline_bubble) breakdown.pipeline_bubble += end - begin;
           });
      tallies.add_ranks(arrivals, std::int64_t(rank), alike, scratch);
      breakdown.compute = breakdown.time - breakdown.sync();
    }
  }
  return attribution;
}

const char* name_of(Cause cause) {
  switch (cause) {
    case Cause::compute: return "compute";
    case Cause::transfer: return "transfer";
    case Cause::straggler_wait: return "straggler_wait";
    case Cause::pipeline_bubble: return "pipeline_bubble";
  }
  return "?";
}

std::size_t slowest_rank(const Attribution& attribution, int iteration) {
  const auto time = [&](std::size_t rank) { return attribution.of[rank][std::size_t(iteration)].time; };
  std::size_t slowest = 0;
  for (std::size_t rank = 1; rank < attribution.of.size(); ++rank)
    if (time(rank) > time(slowest)) slowest = rank;
  return slowest;
}

std::size_t most_synchronising_rank(const Attribution& attribution, int iteration) {
  std::size_t most = 0;
  double largest = -1;
  for (std::size_t rank = 0; rank < attribution.of.size(); ++rank) {
    const double share = synchronising_share(attribution.of[rank][std::size_t(iteration)]);
    if (share > largest) largest = share, most = rank;
  }
  return most;
}

double synchronising_share(const Breakdown& breakdown) {
  return breakdown.time == 0 ? 0 : double(breakdown.sync()) / double(breakdown.time);
}

}  // namespace dlnb
