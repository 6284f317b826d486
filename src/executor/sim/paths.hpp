// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <dlnb/collective.hpp>
#include <dlnb/machine.hpp>
#include <dlnb/schedule.hpp>

#include "executor/sim/flows.hpp"

namespace dlnb::sim {

/// Messages of at most this many bytes leave their sender at once; larger ones wait for the receiver.
/// Source: Open MPI 4.1, default of btl_tcp_eager_limit (64 KiB).
inline constexpr double eager_limit = 64 * 1024;

/// The algorithms a collective is done by: the one with the shortest time for its size on an idle machine,
/// the first of equals.
std::vector<const Collective*> candidates(OperationKind kind, bool one_node);

/// Turns groups and pairs of ranks into paths on the machine. Traffic is proportional to the bytes, so a path
/// serves all sizes of one kind on one group.
class Paths {
 public:
  Paths(const Machine& machine, const Placement& placement, const Capacities& capacities)
      : machine_(machine), placement_(placement), capacities_(capacities) {}

  /// One for each candidate.
  std::vector<Path> collective(OperationKind kind, std::span<const std::int32_t> ranks);
  Path message(std::int32_t from, std::int32_t to);

 private:
  Path merge(const Traffic& traffic, std::span<const Member> members, const OperationCost& cost);

  const Machine& machine_;
  const Placement& placement_;
  const Capacities& capacities_;
  std::vector<LinkIndex> route_;
  std::vector<double> latency_;  ///< of each flow
  std::vector<Use> uses_;
};

}  // namespace dlnb::sim
