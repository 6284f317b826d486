// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include <dlnb/collective.hpp>
#include <dlnb/machine.hpp>
#include <dlnb/schedule.hpp>

#include "executor/sim/flows.hpp"
#include "executor/sim/routing.hpp"
#include "executor/sim/selection.hpp"

namespace dlnb::sim {

/// Messages of at most this many bytes leave their sender at once; larger ones wait for the receiver.
/// Source: Open MPI 4.1, default of btl_tcp_eager_limit (64 KiB).
inline constexpr double eager_limit = 64 * 1024;

/// Turns groups and pairs of ranks into paths on the machine. Traffic is proportional to the bytes, so a path
/// serves all sizes of one kind on one group.
class Paths {
 public:
  Paths(const Machine& machine, const Placement& placement, const Capacities& capacities)
      : machine_(machine),
        placement_(placement),
        capacities_(capacities),
        selection_(machine),
        router_(machine) {}

  /// How an operation of this kind and size may be done: one way, or several of which the fastest path is taken.
  std::vector<Choice> choices(OperationKind kind, std::span<const std::int32_t> ranks, double bytes);
  /// Adaptive routes give way to the groups of the same job that were found before and look alike, and to nothing else.
  Path collective(OperationKind kind, std::span<const std::int32_t> ranks, const Choice& choice,
                  std::int32_t job);
  Path message(std::int32_t from, std::int32_t to, std::int32_t job);
  /// See Router.
  void give_way_to(std::span<const double> others) { router_.give_way_to(others); }

 private:
  /// What runs at the same time, side by side: the groups over one axis, the messages one step along it. Job, kind,
  /// algorithm, protocol, size of the group, distance of its first two ranks.
  using Pattern = std::tuple<std::int32_t, OperationKind, const Collective*, const TuningCost*, std::int32_t,
                             std::int32_t>;

  void find_members(std::span<const std::int32_t> ranks);
  void order_uses();
  Path merge(const Traffic& traffic, std::span<const Member> members, const OperationCost& cost,
             const Pattern& pattern);

  const Machine& machine_;
  const Placement& placement_;
  const Capacities& capacities_;
  Selection selection_;
  Router router_;
  std::map<Pattern, Loads> beside_;
  std::vector<Member> members_;
  std::vector<double> latency_;  ///< of each flow
  std::vector<Use> uses_, ordered_;
  std::vector<std::int32_t> place_;  ///< by link: scratch of ordering
};

}  // namespace dlnb::sim
