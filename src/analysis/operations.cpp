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

namespace dlnb {

OperationTallies::OperationTallies(const Matching& matching, int iterations)
    : matching_(matching), iterations_(iterations) {
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

  for (auto& [key, index] : rows) {
    const auto& [role, axes, kind, phase, dtype, bytes_each] = key;
    index = std::int32_t(tallies_.size());
    tallies_.push_back({.row = {.role = role,
                                .axis = grid.text(axes),
                                .kind = kind,
                                .phase = phase,
                                .dtype = dtype,
                                .group_size = grid.size(axes),
                                .bytes_each = bytes_each},
                        .ranks = std::count(matching.role_of.begin(), matching.role_of.end(), role)});
  }
  for (std::size_t role = 0; role < matching.programs.size(); ++role) {
    auto& row_of = row_of_.emplace_back();
    auto& moving = moving_.emplace_back();
    for (const Operation& operation : matching.programs[role].operations) {
      row_of.push_back(moves_data(operation.kind) ? rows.at(key_of(role, operation)) : nothing);
      if (row_of.back() == nothing) continue;
      moving.push_back(OperationIndex(row_of.size() - 1));
      Tally& tally = tallies_[std::size_t(row_of.back())];
      ++tally.row.count;
      tally.size = algorithm_bytes(operation);
    }
  }
}

void OperationTallies::add_ranks(const Arrivals& arrivals, std::int64_t rank, std::int64_t alike,
                                 const Walk& walked) {
  const auto& row_of = rows_of(rank);
  const OperationTimes times = arrivals.times(rank);
  for (const OperationIndex index : moving_[std::size_t(matching_.role_of[std::size_t(rank)])]) {
    const auto i = std::size_t(index);
    Tally& tally = tallies_[std::size_t(row_of[i])];
    const std::int64_t completed = times.completed(i);
    tally.from_own_arrival.add(std::max<std::int64_t>(completed - times.begin(i), 0), alike);
    tally.from_last_arrival.add(std::max<std::int64_t>(completed - walked.last[i], 0), alike);
  }
}

OperationRow OperationTallies::finish(Tally& tally) const {
  OperationRow row = tally.row;
  row.time = tally.from_own_arrival.spread();
  if (tally.ranks > 0 && iterations_ > 0)
    row.exposed = seconds_of(tally.exposed / double(tally.ranks) / double(iterations_));
  // An operation that took no time (empty, or not resolved by the clocks) has no bandwidth to speak of.
  const std::int64_t median = tally.from_last_arrival.median();
  if (median > 0) row.algorithm_bandwidth = double(tally.size.value) / seconds_of(double(median));
  row.bus_bandwidth = row.algorithm_bandwidth * bus_factor(row.kind, row.group_size);
  return row;
}

std::vector<OperationRow> OperationTallies::rows() {
  std::vector<OperationRow> rows;
  for (Tally& tally : tallies_) rows.push_back(finish(tally));
  return rows;
}

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

}  // namespace dlnb
