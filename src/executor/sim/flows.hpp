// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <dlnb/machine.hpp>

#include "executor/sim/events.hpp"
#include "executor/sim/network.hpp"

namespace dlnb::sim {

/// The links a coupled activity crosses, merged. One activity at a time may flow along a path.
struct Path {
  std::vector<Use> uses;               ///< multiplicity of the reference flow on every link
  std::vector<std::int32_t> position;  ///< of each use among the link's users; kept by Flows
  double alone = 0;    ///< bytes/s of the reference flow with every link to itself; infinite: no links
  double share = 0;    ///< bytes of the reference (largest) flow per byte of the operation
  double latency = 0;  ///< seconds before data flows

  /// Seconds an operation of `bytes` takes with every link to itself.
  double time(double bytes) const { return latency + (bytes > 0 ? bytes * share / alone : 0); }
};

/// What flows now and how fast. Rates are those of the network's solver, but only activities that are
/// connected to a change through links that can be full are solved again.
class Flows {
 public:
  Flows(const Machine& machine, const Network& network, std::size_t activities, Events& events);

  /// Capacity of a link after protocol overhead, bytes/s.
  double capacity(LinkIndex link) const { return links_[std::size_t(link)].capacity; }
  /// The rate a path has when nothing else flows.
  double alone(const Path& path) const;

  /// An activity begins to move `bytes` of its reference flow; its rate is set by the next `settle`.
  void begin(std::int32_t activity, Path& path, double bytes, double now);
  /// Whether this `moved` event is the latest for its activity.
  bool is_current(const Event& event) const {
    return activities_[std::size_t(event.subject)].version == event.version;
  }
  /// The version an event needs to be current now.
  std::uint32_t version(std::int32_t activity) const { return activities_[std::size_t(activity)].version; }
  /// Bytes/s of its reference flow since the last `settle`; 0 where it does not flow.
  double rate(std::int32_t activity) const { return activities_[std::size_t(activity)].rate; }
  /// Takes an activity off its links; nothing where it does not flow.
  void finish(std::int32_t activity);
  /// Solves what began or finished since the last call and tells when each changed activity will have moved.
  void settle(double now);

 private:
  struct User {
    std::int32_t activity;
    std::int32_t use;
  };
  struct LinkState {
    double capacity = 0;
    double demand = 0;  ///< Σ weight · alone of its users: the most they could ask for
    std::vector<User> users;
    std::uint64_t touched = 0;  ///< stamp of the settle that looks at it
    std::uint64_t visited = 0;
    std::int32_t local = 0;  ///< number in the system that is being solved
  };
  struct Activity {
    Path* path = nullptr;  ///< null: does not flow
    double remaining = 0;  ///< bytes at `since`
    double rate = 0;
    double since = 0;
    std::uint32_t version = 0;
    std::uint64_t visited = 0;
  };

  static bool can_be_full(const LinkState& link);
  void set_rate(std::int32_t activity, double rate, double now);
  void solve_connected(std::int32_t activity, double now);

  const Network& network_;
  Events& events_;
  std::vector<LinkState> links_;
  std::vector<Activity> activities_;
  std::uint64_t stamp_ = 1;
  std::vector<std::int32_t> begun_, touched_;
  // The system being solved; kept to save allocations.
  std::vector<std::int32_t> members_, first_;
  std::vector<Use> uses_;
  std::vector<double> capacity_, limit_, rates_;
};

}  // namespace dlnb::sim
