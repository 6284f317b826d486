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

/// A group as the choice of an algorithm sees it.
struct GroupShape {
  int members = 1;
  int nodes = 1;
  int rails = 1;                 ///< NICs in use on the node with the fewest; 1 on one node
  bool even = true;              ///< all nodes have equally many members
  bool node_reduces = false;     ///< the switches inside a node multicast and reduce (NVLS)
  bool network_reduces = false;  ///< the switches between nodes reduce (SHARP)

  /// Members of a node, where all have equally many.
  double per_node() const { return double(members) / nodes; }
};
/// All but what the switches can do.
GroupShape shape_of(std::span<const Member> members);

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
  /// Where data moves on in pieces along a longest way: how many times the whole activity's time for one piece passes
  /// until the last member has its first. 0 where every step moves a part of its own (rings, halving).
  double filling = 0;
};

/// Dependent steps on an algorithm's longest way, by where they lead.
struct Steps {
  double node = 0;     ///< inside a node
  double network = 0;  ///< between nodes
};

/// Bytes, per byte of the operation, that leave the busiest device inside its node, and the busiest NIC.
struct Load {
  double device = 0;
  double nic = 0;
};

/// A part of the vector that one member hands to another. Elements count through the operation's larger side.
struct Hop {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  bool reduces = false;  ///< added to what the receiver has; else put in its place
};
/// Hops that go on at once. A member begins its part of a round when its part of the one before is done.
using Round = std::vector<Hop>;

/// An algorithm for collectives. One file each in src/schedule/collectives/.
/// Flows are proportional to `bytes`, so that one layout serves all sizes. The root of a broadcast is member 0.
/// `bytes`, `elements`: the operation's larger side on one rank (all-reduce: the vector; all-gather: what is received;
/// reduce-scatter, all-to-all: what is sent).
struct Collective {
  std::string_view name;
  std::string_view summary;
  /// What libraries' tuning models call it; empty: its own name.
  std::string_view tuned_as = {};
  bool (*handles)(OperationKind);
  /// Whether it can be laid out over such a group. Null: always.
  bool (*fits)(OperationKind, const GroupShape&) = nullptr;
  /// Whether it is among those of which the fastest is taken, where nothing else decides.
  bool is_usual = false;
  Traffic (*traffic)(OperationKind, std::span<const Member> members, double bytes);
  Steps (*steps)(OperationKind, const GroupShape&);
  Load (*load)(OperationKind, const GroupShape&);
  /// The same as messages; null where switches do a part of the work. Members ≥ 2, elements ≥ 0.
  std::vector<Round> (*rounds)(OperationKind, std::span<const Member> members,
                               std::int64_t elements) = nullptr;
  /// How many messages these are, without those of empty parts unless the operation is empty; null: at most 128 for each
  /// member and rail.
  std::int64_t (*messages)(OperationKind, std::span<const Member> members, std::int64_t elements) = nullptr;

  std::string_view tuning_name() const { return tuned_as.empty() ? name : tuned_as; }
};
namespace collectives {
Registry<Collective> all();
}

}  // namespace dlnb
