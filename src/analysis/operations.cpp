// SPDX-License-Identifier: Apache-2.0
// Bandwidths as nccl-tests define them (github.com/NVIDIA/nccl-tests, doc/PERFORMANCE.md):
//   algorithm bandwidth = S / t      S: all-reduce the vector, all-gather what is received, reduce-scatter
//   and
//                                    all-to-all what is sent; messages and broadcast the message
//   bus bandwidth = algorithm bandwidth · factor(n)
//   factor: all-reduce 2(n-1)/n; all-gather, reduce-scatter, all-to-all (n-1)/n; send, receive, broadcast 1
// t is the median over ranks and iterations of completion − last arrival: a benchmark starts all ranks
// together, a training step does not. Where compute holds up the progress of a non-blocking operation, that
// is in t.
#include "analysis/operations.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/samples.hpp"
#include "analysis/walk.hpp"

namespace dlnb {
namespace {

// One row while it is being filled. Nanoseconds.
struct Tally {
  OperationRow row;
  Bytes size;
  std::int64_t ranks = 0;
  double exposed = 0;
  std::vector<std::int64_t> from_own_arrival;
  std::vector<std::int64_t> from_last_arrival;
};

struct Tallies {
  std::vector<Tally> rows;
  std::vector<std::vector<std::int32_t>> row_of;  ///< [role][operation], `nothing` where it moves no data
};

Tallies make_tallies(const Matching& matching, int iterations) {
  using Key = std::tuple<std::int64_t, AxisSet, OperationKind, Phase, DataType, std::int64_t>;
  const ProcessGrid& grid = matching.schedule->grid;
  const auto key_of = [&](std::size_t role, const Operation& operation) {
    return Key{std::int64_t(role),
               operation.axes,
               operation.kind,
               operation.phase,
               operation.dtype,
               message_elements(operation, grid.size(operation.axes)) * size_of(operation.dtype)};
  };
  std::map<Key, std::int32_t> rows;
  for (std::size_t role = 0; role < matching.programs.size(); ++role)
    for (const Operation& operation : matching.programs[role].operations)
      if (moves_data(operation.kind)) rows.try_emplace(key_of(role, operation));

  Tallies tallies;
  for (auto& [key, index] : rows) {
    const auto& [role, axes, kind, phase, dtype, bytes_each] = key;
    index = std::int32_t(tallies.rows.size());
    tallies.rows.push_back({.row = {.role = role,
                                    .axis = grid.text(axes),
                                    .kind = kind,
                                    .phase = phase,
                                    .dtype = dtype,
                                    .group_size = grid.size(axes),
                                    .bytes_each = bytes_each},
                            .ranks = std::count(matching.role_of.begin(), matching.role_of.end(), role)});
  }
  for (std::size_t role = 0; role < matching.programs.size(); ++role) {
    auto& row_of = tallies.row_of.emplace_back();
    for (const Operation& operation : matching.programs[role].operations) {
      row_of.push_back(moves_data(operation.kind) ? rows.at(key_of(role, operation)) : nothing);
      if (row_of.back() == nothing) continue;
      Tally& tally = tallies.rows[std::size_t(row_of.back())];
      ++tally.row.count;
      tally.size = algorithm_bytes(operation);
    }
  }
  for (Tally& tally : tallies.rows) {
    const auto samples = std::size_t(tally.row.count * tally.ranks * iterations);
    tally.from_own_arrival.reserve(samples);
    tally.from_last_arrival.reserve(samples);
  }
  return tallies;
}

void add_rank(Tallies& tallies, const Arrivals& arrivals, std::int64_t rank, Walk& scratch) {
  const auto& row_of = tallies.row_of[std::size_t(arrivals.matching().role_of[std::size_t(rank)])];
  walk(arrivals, rank, scratch, [&](OperationIndex i, Cause cause, std::int64_t begin, std::int64_t end) {
    if (cause != Cause::compute && row_of[std::size_t(i)] != nothing)
      tallies.rows[std::size_t(row_of[std::size_t(i)])].exposed += double(end - begin);
  });
  const OperationTimes times = arrivals.times(rank);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (row_of[i] == nothing) continue;
    Tally& tally = tallies.rows[std::size_t(row_of[i])];
    const std::int64_t completed = times.completed(i);
    tally.from_own_arrival.push_back(std::max<std::int64_t>(completed - times.begin(i), 0));
    tally.from_last_arrival.push_back(std::max<std::int64_t>(completed - scratch.last[i], 0));
  }
}

OperationRow finish(Tally& tally, int iterations) {
  OperationRow row = tally.row;
  row.time = spread_of(tally.from_own_arrival);
  if (tally.ranks > 0 && iterations > 0)
    row.exposed = seconds_of(tally.exposed / double(tally.ranks) / double(iterations));
  // An operation that took no time (empty, or not resolved by the clocks) has no bandwidth to speak of.
  const std::int64_t median = median_of(tally.from_last_arrival);
  if (median > 0) row.algorithm_bandwidth = double(tally.size.value) / seconds_of(double(median));
  row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(row.kind, row.group_size);
  return row;
}

}  // namespace

Bytes algorithm_bytes(const Operation& operation) {
  return {std::max(operation.elements_sent, operation.elements_received) * size_of(operation.dtype)};
}

double bus_factor(OperationKind kind, std::int64_t members) {
  const double others = double(members - 1) / double(std::max<std::int64_t>(members, 1));
  switch (kind) {
    case OperationKind::all_reduce: return 2 * others;
    case OperationKind::all_gather:
    case OperationKind::reduce_scatter:
    case OperationKind::all_to_all: return others;
    default: return 1;
  }
}

std::vector<OperationRow> operation_rows(const Trace& trace, Arrivals& arrivals) {
  Tallies tallies = make_tallies(arrivals.matching(), trace.iterations);
  Walk scratch;
  for (int iteration = 0; iteration < trace.iterations; ++iteration) {
    arrivals.load(iteration);
    for (const RankTrace& rank : trace.ranks) add_rank(tallies, arrivals, rank.rank, scratch);
  }
  std::vector<OperationRow> rows;
  for (Tally& tally : tallies.rows) rows.push_back(finish(tally, trace.iterations));
  return rows;
}

}  // namespace dlnb
