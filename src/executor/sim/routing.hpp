// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <dlnb/collective.hpp>
#include <dlnb/machine.hpp>

#include "executor/sim/network.hpp"

namespace dlnb::sim {

/// Seconds of work that a pattern's flows put on links, per byte of the operation. Only touched links take memory:
/// open addressing, at most three quarters full.
class Loads {
 public:
  double at(LinkIndex link) const {
    if (slots_.empty()) return 0;
    const Slot& slot = slots_[find(link)];
    return slot.link == link ? slot.seconds : 0;
  }
  void add(LinkIndex link, double seconds) {
    if (4 * (used_ + 1) > 3 * slots_.size()) grow();
    Slot& slot = slots_[find(link)];
    used_ += slot.link < 0 ? 1 : 0;
    slot.link = link;
    slot.seconds += seconds;
  }

 private:
  struct Slot {
    LinkIndex link = -1;
    double seconds = 0;
  };

  std::size_t find(LinkIndex link) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = (std::uint64_t(link) * 0x9e3779b97f4a7c15 >> 32) & mask;
    while (slots_[place].link >= 0 && slots_[place].link != link) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.link >= 0) slots_[find(slot.link)] = slot;
  }

  std::vector<Slot> slots_;  // a power of two of them
  std::size_t used_ = 0;
};

/// Leads the flows of one operation over the machine as its routing does.
class Router {
 public:
  explicit Router(const Machine& machine);

  /// Appends what every link carries of every flow to `uses` (weight: bytes; a link may occur often) and gives each
  /// flow its latency, the mean over its parts. `beside` is what operations of the same pattern, which run at the
  /// same time, have put on the network; this operation is added. Links are numbered as the machine does.
  void lead(const Traffic& traffic, std::span<const Member> members, Loads& beside, std::vector<Use>& uses,
            std::vector<double>& latency);
  /// From now on adaptive routes give way to what others take of the network's links, as parts of their capacity, by the
  /// network's number of the link; empty: nothing.
  void give_way_to(std::span<const double> others) { others_ = others; }

 private:
  struct Ends {
    int from, to;
  };
  struct Cost {  // compared in this order; lower is better
    double queue;
    double load;
    auto operator<=>(const Cost&) const = default;
  };

  void single(const Flow& flow, std::size_t number, Ends devices, std::vector<Use>& uses, double& seconds);
  void spray(const Traffic& traffic, std::vector<Use>& uses, std::vector<double>& latency);
  void adapt(const Traffic& traffic, Loads& loads, std::vector<Use>& uses, std::vector<double>& latency);

  bool is_port(LinkIndex link) const;
  std::span<const LinkIndex> inside(const std::vector<LinkIndex>& route) const;
  Cost cost_of(const std::vector<LinkIndex>& route, const Loads& loads, double bytes, double pace) const;
  void choose(Ends ends, std::uint64_t seed, std::uint64_t part, const Loads& loads, double bytes,
              double pace);
  double latency_of(const std::vector<LinkIndex>& route) const;
  double taken(LinkIndex link) const { return others_.empty() ? 0 : others_[std::size_t(link)]; }
  const Link& in_network(LinkIndex link) const { return network_links_[std::size_t(link)]; }
  double capacity(LinkIndex link) const { return in_network(link).capacity.value; }
  /// By the machine's number.
  double latency(LinkIndex link) const {
    if (link >= first_network_link_) return in_network(link - first_network_link_).latency.value;
    return node_links_[std::size_t(link) % node_links_.size()].latency.value;
  }

  const Machine& machine_;
  std::span<const Link> node_links_, network_links_;
  LinkIndex first_network_link_;
  std::span<const double> others_;
  std::vector<std::pair<std::size_t, Ends>> far_;  ///< flows over the network, by number, with their NICs
  std::vector<LinkIndex> route_, best_;
};

}  // namespace dlnb::sim
