// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <dlnb/machine.hpp>

#include "executor/sim/flows.hpp"
#include "executor/sim/lines.hpp"
#include "executor/sim/program.hpp"

namespace dlnb::sim {

/// The paths of all operations there will be, by activity.
struct PathTable {
  /// Which path an operation takes.
  struct Known {
    OperationKind kind = OperationKind::send;
    double bytes = 0;       ///< of a pair 0: its path serves all sizes
    std::int32_t path = 0;  ///< from the activity's first on

    bool operator==(const Known&) const = default;
  };

  std::vector<Path> paths;
  std::vector<Known> known;
  std::vector<std::int32_t> first_path, first_known;  ///< by activity, and one more
  std::vector<bool> goes_around;  ///< by job: some of its paths have ways around others; empty: nobody's have

  /// The path for an operation of this kind and size.
  std::int32_t path_of(std::size_t activity, OperationKind kind, double bytes) const;

  std::span<const Path> paths_of(std::size_t activity) const {
    return std::span(paths).subspan(std::size_t(first_path[activity]),
                                    std::size_t(first_path[activity + 1] - first_path[activity]));
  }
  std::span<const Known> known_of(std::size_t activity) const {
    return std::span(known).subspan(std::size_t(first_known[activity]),
                                    std::size_t(first_known[activity + 1] - first_known[activity]));
  }
};

PathTable find_paths(const std::vector<Role>& roles, const Lines& lines,
                     std::span<const std::int32_t> job_of_runner, const Machine& machine,
                     const Placement& placement, const Capacities& capacities);

}  // namespace dlnb::sim
