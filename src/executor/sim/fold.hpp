// SPDX-License-Identifier: Apache-2.0
// Symmetric replicas are simulated once. Ranks and activities fall into classes that are an equitable partition:
//   ranks of a class       have one role, and on each line activities of one class
//   activities of a class  have paths of the same latency and rate alone, and equally many ranks of each class
// Such ranks do the same at the same times as long as links slow nobody down, or everybody alike. Whether they do is
// watched on the links themselves: those that the same activities of the same classes use in the same way are one, and as soon
// as one limits somebody that not all of a class of several are on alike, the run is begun again with those members apart.
// Source of the partition: colour refinement (A. Cardon, M. Crochemore, "Partitioning a graph in O(|A| log₂|V|)", 1982).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor/sim/flows.hpp"
#include "executor/sim/lines.hpp"
#include "executor/sim/path_table.hpp"
#include "executor/sim/program.hpp"

namespace dlnb::sim {

/// What is simulated, and what of the whole it stands for.
struct Folded {
  Lines lines;
  PathTable table;                                ///< paths have the links that could be full only
  std::vector<std::int32_t> part_of;              ///< by activity of the whole: which it is one of
  std::vector<std::int32_t> members;              ///< by activity: how many it stands for
  std::vector<std::vector<std::uint8_t>> unlike;  ///< by path and use: not all members are on such a link so
  std::vector<LinkIndex> link_of;  ///< by link of the machine: which stands for it; −1: it is never full
  std::vector<std::int32_t> runner_of_runner;  ///< by runner of the whole
};

class Folding {
 public:
  /// `apart`: by job, whether its ranks are never alike, as with noise. All outlive it.
  Folding(const std::vector<Role>& roles, const Lines& lines, const PathTable& table,
          const Capacities& capacities, std::span<const std::int32_t> job_of_runner,
          const std::vector<bool>& apart);

  /// Nothing where too little is alike to be worth it.
  std::optional<Folded> fold();
  /// Takes the members of classes of activities apart that use a link, or what it stands for.
  void split(const Folded& folded, std::span<const Flows::Torn> torn);

 private:
  bool refine();
  bool is_equitable() const;
  void fold_lines(Folded& folded) const;
  void fold_links(Folded& folded) const;
  void find_unlike(Folded& folded) const;

  const std::vector<Role>& roles_;
  const Lines& lines_;
  const PathTable& table_;
  const Capacities& capacities_;
  bool worth_it_ = false;
  int tries_ = 0;
  std::vector<std::int32_t> class_of_runner_, class_of_activity_;
  std::int32_t runner_classes_ = 0, activity_classes_ = 0;
};

}  // namespace dlnb::sim
