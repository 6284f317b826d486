// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <dlnb/registry.hpp>
#include <dlnb/schedule.hpp>

namespace dlnb {

/// Where a member of a group sits, as far as an algorithm's layout cares.
struct Member {
  int device = 0;  ///< on the machine
  int node = 0;
  int nic = 0;  ///< of its node
};

/// What one member sends to another during the whole collective; indices into the group.
struct Flow {
  int from = 0;
  int to = 0;
  double bytes = 0;
};

/// A collective as one coupled activity: all flows progress at one rate, after `steps` latencies.
struct Traffic {
  std::vector<Flow> flows;
  int steps = 0;
  std::vector<int> critical;  ///< the flows that follow each other on the longest way; empty: any, on average
};

/// An algorithm for collectives. One file each in src/schedule/collectives/.
/// Flows are proportional to `bytes`, so that one layout serves all sizes. The root of a broadcast is member 0.
struct Collective {
  std::string_view name;
  std::string_view summary;
  bool (*handles)(OperationKind);
  /// `bytes`: the operation's larger side on one rank (all-reduce: the vector; all-gather: what is received;
  /// reduce-scatter, all-to-all: what is sent).
  Traffic (*traffic)(OperationKind, std::span<const Member> members, double bytes);
};
namespace collectives {
Registry<Collective> all();
}

}  // namespace dlnb
