// SPDX-License-Identifier: Apache-2.0
// Where one rank's time went, operation by operation (the rules are in docs/models/metrics.md):
//   blocking operation   [begin, last arrival) waits, [last arrival, end) transfers
//   non-blocking         the call that issues it is compute (everything else)
//   compute              up to `completed` compute; behind it the rank had no core, because communication held it
//   wait                 waited operations in completion order; an instant transfers when any of them has all
//   its
//                        participants and is not complete, otherwise it waits for the next one to complete
// Everything is clipped to the interval and to what came before it, so that pieces never overlap, even where
// clocks of ranks disagree by their bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/arrivals.hpp"

namespace dlnb {

enum class Cause : std::uint8_t { compute, transfer, straggler_wait, pipeline_bubble };

/// "compute", "transfer", "straggler_wait", "pipeline_bubble"
const char* name_of(Cause cause);

/// What waiting for this kind's other participants is called.
constexpr Cause waiting_cause(OperationKind kind) {
  if (kind == OperationKind::recv) return Cause::pipeline_bubble;
  return moves_data(kind) ? Cause::straggler_wait : Cause::transfer;
}

/// Scratch of `walk`, kept between calls.
struct Walk {
  struct Waited {
    OperationIndex index = 0;
    std::int64_t last_arrival = 0;
    std::int64_t completed = 0;
    std::int64_t earliest_transfer =
        0;  ///< smallest last arrival among this and the ones that complete after it
  };
  std::vector<Waited> waited;
  std::vector<std::int64_t>
      last;  ///< of the rank that was walked last, by operation: when its last participant arrived
};

/// Calls `sink(index, cause, begin, end)` for the non-empty pieces of `rank`'s loaded iteration, in time
/// order, disjoint and inside the iteration. `index` is the operation that caused the piece: of a wait, what
/// it waited for.
template <class Sink>
void walk(const Arrivals& arrivals, std::int64_t rank, Walk& scratch, Sink&& sink) {
  const MatchedProgram& program = arrivals.matching().program_of(rank);
  const OperationTimes times = arrivals.times(rank);
  arrivals.last(rank, scratch.last);
  std::int64_t now = arrivals.rank(rank).begin_of(std::size_t(arrivals.iteration()));
  const std::int64_t finish = arrivals.rank(rank).end_of(std::size_t(arrivals.iteration()));

  const auto until = [&](std::int64_t time, std::int64_t limit, OperationIndex index, Cause cause) {
    const std::int64_t end = std::clamp(time, now, limit);
    if (end > now) sink(index, cause, now, end);
    now = end;
  };
  for (std::size_t i = 0; i < times.size(); ++i) {
    const Brief operation = program.briefs[i];
    const auto index = OperationIndex(i);
    now = std::clamp(times.begin(i), now, finish);
    const std::int64_t end = std::clamp(times.end(i), now, finish);

    if (!is_wait(operation.kind)) {
      if (operation.stands_still) {
        until(scratch.last[i], end, index, waiting_cause(operation.kind));
        until(end, end, index, Cause::transfer);
      } else {
        const bool is_compute = operation.kind == OperationKind::compute;
        until(is_compute ? times.completed(i) : end, end, index, Cause::compute);
        until(end, end, index, Cause::transfer);
      }
      continue;
    }
    auto& waited = scratch.waited;
    waited.clear();
    for (const OperationIndex other : program.waited[i]) {
      const std::int64_t completed = times.completed(std::size_t(other));
      // A send that goes on after the wait was buffered: the rank did not stand still for it.
      const bool is_buffered =
          program.briefs[std::size_t(other)].kind == OperationKind::send && completed > times.end(i);
      if (!is_buffered) waited.push_back({other, scratch.last[std::size_t(other)], completed, 0});
    }
    if (waited.size() > 1)
      std::sort(waited.begin(), waited.end(), [](const auto& a, const auto& b) {
        return std::pair(a.completed, a.index) < std::pair(b.completed, b.index);
      });
    std::int64_t earliest = finish;
    for (auto w = waited.rbegin(); w != waited.rend(); ++w)
      w->earliest_transfer = earliest = std::min(earliest, w->last_arrival);
    for (const auto& w : waited) {
      const std::int64_t completed = std::clamp(w.completed, now, end);
      until(w.earliest_transfer, completed, w.index,
            waiting_cause(program.briefs[std::size_t(w.index)].kind));
      until(completed, completed, w.index, Cause::transfer);
    }
    until(end, end, waited.empty() ? index : waited.back().index, Cause::transfer);
  }
}

}  // namespace dlnb
