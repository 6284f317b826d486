// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <dlnb/metrics.hpp>

#include "analysis/arrivals.hpp"
#include "analysis/samples.hpp"
#include "analysis/walk.hpp"

namespace dlnb {

/// One row per role × axis × kind × phase × type × size, for everything that moves data between ranks. Filled while ranks
/// are walked.
class OperationTallies {
 public:
  OperationTallies(const Matching& matching, int iterations);

  /// Adds a rank's loaded iteration, which has just been walked, for so many ranks that are alike.
  void add_ranks(const Arrivals& arrivals, std::int64_t rank, std::int64_t alike, const Walk& walked);
  /// A piece of it that this operation caused and that was not compute. Nanoseconds of all of them.
  void add_exposed(std::int64_t rank, OperationIndex operation, std::int64_t time) {
    const std::int32_t row = rows_of(rank)[std::size_t(operation)];
    if (row != nothing) tallies_[std::size_t(row)].exposed += double(time);
  }
  /// Sorted by what they are of.
  std::vector<OperationRow> rows();

 private:
  // One row while it is being filled. Nanoseconds.
  struct Tally {
    OperationRow row;
    Bytes size;
    std::int64_t ranks = 0;
    double exposed = 0;
    CountedSamples from_own_arrival, from_last_arrival;
  };

  const std::vector<std::int32_t>& rows_of(std::int64_t rank) const {
    return row_of_[std::size_t(matching_.role_of[std::size_t(rank)])];
  }
  OperationRow finish(Tally& tally) const;

  const Matching& matching_;
  int iterations_;
  std::vector<Tally> tallies_;
  std::vector<std::vector<std::int32_t>> row_of_;    ///< [role][operation], `nothing` where it moves no data
  std::vector<std::vector<OperationIndex>> moving_;  ///< [role]: those that do
};

/// The bytes nccl-tests divide by time: the operation's larger side on one rank.
Bytes algorithm_bytes(const Operation& operation);
/// bus bandwidth / algorithm bandwidth for a group of `members`.
double bus_factor(OperationKind kind, std::int64_t members);

}  // namespace dlnb
