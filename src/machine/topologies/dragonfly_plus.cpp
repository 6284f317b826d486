// SPDX-License-Identifier: Apache-2.0
// Dragonfly+: groups that are two-level fat trees, spines of different groups joined by parallel global
// cables.
//                                                                          [Shpiner et al., HiPINEB 2017]
// A group's global cables are dealt to its spines (machine/global_cables.hpp).
//   routes: leaf                          same leaf
//           leaf, spine, leaf             same group; spine by hash
//           leaf, spine, spine, leaf      other group; global cable by hash, it decides both spines
// Every leaf reaches every spine, so all direct global cables give minimal routes of the same length.
#include <fmt/format.h>

#include <algorithm>
#include <dlnb/error.hpp>

#include "machine/attachment.hpp"
#include "machine/global_cables.hpp"
#include "machine/machine.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb::topologies {
namespace {

struct Parameters {
  int groups = 1;
  int leaves = 1;
  int spines = 1;
  int ports = 1;
  int node_ports = 1;
  int node_switches = 1;
  int leaf_links = 1;
  int global_links = 1;
  int radix = 0;
  BytesPerSecond endpoint_capacity;
  BytesPerSecond leaf_capacity;
  BytesPerSecond global_capacity;
  Seconds endpoint_latency;
  Seconds switch_latency;
  Seconds global_latency;
};
constexpr auto parameters = options(
    option("groups", &Parameters::groups, "groups", count_range),
    option("leaves", &Parameters::leaves, "leaf switches in a group", count_range),
    option("spines", &Parameters::spines, "spine switches in a group", count_range),
    option("ports", &Parameters::ports, "endpoints on a leaf", count_range),
    option("node_ports", &Parameters::node_ports, "endpoints (NICs) of one node", count_range),
    option("node_switches", &Parameters::node_switches, "leaves that a node's endpoints are spread over",
           count_range),
    option("leaf_links", &Parameters::leaf_links, "cables between each leaf and each spine of its group",
           count_range),
    option("global_links", &Parameters::global_links, "cables between each two groups", count_range),
    option("radix", &Parameters::radix,
           "ports of a switch, counted in the leaf-spine speed; 0: as many as needed", count_or_none),
    option("endpoint_capacity", &Parameters::endpoint_capacity, "endpoint to leaf, per direction",
           bandwidth_range),
    option("leaf_capacity", &Parameters::leaf_capacity, "of a leaf-spine cable, per direction",
           bandwidth_range),
    option("global_capacity", &Parameters::global_capacity, "of a cable between groups", bandwidth_range),
    option("endpoint_latency", &Parameters::endpoint_latency, "of sending, and of receiving", latency_range),
    option("switch_latency", &Parameters::switch_latency, "of each switch passed", latency_range),
    option("global_latency", &Parameters::global_latency, "of a global cable, on top", latency_range));

class DragonflyPlus final : public Wiring {
 public:
  DragonflyPlus(const Parameters& shape, const Attachment& attachment, std::int64_t leaf, std::int64_t global,
                int endpoints)
      : Wiring(endpoints, std::int64_t{shape.groups} * (shape.leaves + shape.spines),
               endpoints + leaf + global),
        attachment_(attachment),
        groups_(shape.groups),
        leaves_(shape.leaves),
        spines_(shape.spines),
        leaf_links_(shape.leaf_links),
        global_links_(shape.global_links),
        leaf_cables_(endpoints),
        global_cables_(int(endpoints + leaf)) {
    const int first_leaf = endpoints, first_spine = first_leaf + groups_ * leaves_;
    const Link up{shape.endpoint_capacity, shape.endpoint_latency + shape.switch_latency, LinkClass::nic};
    const Link down{shape.endpoint_capacity, shape.endpoint_latency, LinkClass::nic};
    for (int e = 0; e < endpoints; ++e) lay(e, first_leaf + attachment.switch_of(e), up, down);

    const Link inside{shape.leaf_capacity, shape.switch_latency, LinkClass::leaf};
    for (int l = 0; l < groups_ * leaves_; ++l)
      for (int s = 0; s < spines_; ++s)
        for (int copy = 0; copy < leaf_links_; ++copy)
          lay(first_leaf + l, first_spine + l / leaves_ * spines_ + s, inside, inside);

    const Link between{shape.global_capacity, shape.switch_latency + shape.global_latency, LinkClass::global};
    for (int g = 0; g < groups_; ++g)
      for (int h = g + 1; h < groups_; ++h)
        for (int k = 0; k < global_links_; ++k)
          lay(first_spine + g * spines_ + gateway(g, h, k), first_spine + h * spines_ + gateway(h, g, k),
              between, between);
  }

  int switch_of(int endpoint) const override { return attachment_.switch_of(endpoint); }
  int group_of(int endpoint) const override { return attachment_.group_of(endpoint); }

  int group_of_switch(int index) const override {
    const int all_leaves = groups_ * leaves_;
    return index < all_leaves ? index / leaves_ : (index - all_leaves) / spines_;
  }

  std::int64_t minimal_routes(int from, int to) const override {
    const int a = switch_of(from), b = switch_of(to);
    if (a == b) return 1;
    return std::int64_t{leaf_links_} * leaf_links_ * (a / leaves_ == b / leaves_ ? spines_ : global_links_);
  }

  void minimal_route(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    out.push_back(2 * from);
    const int a = switch_of(from), b = switch_of(to);
    if (a != b) {
      Pick pick{choice};
      const int group_a = a / leaves_, group_b = b / leaves_;
      if (group_a == group_b) {
        up_and_down(a, pick.below(spines_), b, pick, out);
      } else {
        const int cable = pick.below(global_links_);
        out.push_back(2 * leaf_cable(a, gateway(group_a, group_b, cable), pick));
        out.push_back(global_link(group_a, group_b, cable));
        out.push_back(2 * leaf_cable(b, gateway(group_b, group_a, cable), pick) + 1);
      }
    }
    out.push_back(2 * to + 1);
  }

  // Over a third group: straight on where its spine has a cable to the destination's group, else over one of its
  // leaves to a spine that has. In the source's own group all ways over spines are minimal already.
  void detour(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    const int a = switch_of(from), b = switch_of(to);
    const int group_a = a / leaves_, group_b = b / leaves_;
    if (group_a == group_b || groups_ < 3) return;
    Pick pick{choice};
    const int third = third_of(pick.below(groups_ - 2), group_a, group_b);
    const int there = pick.below(global_links_);
    const int arrival = gateway(third, group_a, there);
    const Dealt near = dealt_to(place(third, group_b), arrival, global_links_, spines_);
    const int on = near.count > 0 ? near.first + pick.below(near.count) * spines_ : pick.below(global_links_);
    const int departure = gateway(third, group_b, on);

    out.push_back(2 * from);
    out.push_back(2 * leaf_cable(a, gateway(group_a, third, there), pick));
    out.push_back(global_link(group_a, third, there));
    if (arrival != departure) {
      const int leaf = third * leaves_ + pick.below(leaves_);
      out.push_back(2 * leaf_cable(leaf, arrival, pick) + 1);
      out.push_back(2 * leaf_cable(leaf, departure, pick));
    }
    out.push_back(global_link(third, group_b, on));
    out.push_back(2 * leaf_cable(b, gateway(group_b, third, on), pick) + 1);
    out.push_back(2 * to + 1);
  }

 private:
  static int place(int from, int to) { return to < from ? to : to - 1; }
  // Spine of group `from` that holds its k-th cable to group `to`.
  int gateway(int from, int to, int k) const { return holder(place(from, to), k, global_links_, spines_); }
  LinkIndex global_link(int from, int to, int k) const {
    const auto pair = pair_index(std::min(from, to), std::max(from, to), groups_);
    return LinkIndex(2 * (global_cables_ + pair * global_links_ + k) + (from > to));
  }
  int leaf_cable(int leaf, int spine, Pick& pick) const {
    return leaf_cables_ + (leaf * spines_ + spine) * leaf_links_ + pick.below(leaf_links_);
  }
  void up_and_down(int a, int spine, int b, Pick& pick, std::vector<LinkIndex>& out) const {
    out.push_back(2 * leaf_cable(a, spine, pick));
    out.push_back(2 * leaf_cable(b, spine, pick) + 1);
  }

  Attachment attachment_;
  int groups_, leaves_, spines_, leaf_links_, global_links_;
  int leaf_cables_, global_cables_;  // the first of each kind
};

// Counts a switch's ports in cables of the leaf-spine speed: two endpoints at half of it share one port.
void check_radix(const Value& table, const Parameters& shape) {
  if (shape.radix == 0) return;
  auto check = [&](double needed, const char* which) {
    if (needed > shape.radix)
      throw UserError(located(*table.find("radix"), "dragonfly_plus.radix"),
                      fmt::format("a {} needs {:g} ports, a switch "
                                  "has {}",
                                  which, needed, shape.radix));
  };
  const double shared = shape.endpoint_capacity.value / shape.leaf_capacity.value;
  check(shape.ports * shared + double(shape.spines) * shape.leaf_links, "leaf");
  const std::int64_t global =
      (std::int64_t{shape.groups - 1} * shape.global_links + shape.spines - 1) / shape.spines;
  check(double(shape.leaves) * shape.leaf_links + double(global), "spine");
}

std::shared_ptr<const Fabric> build(const Value& table, int endpoints) {
  Parameters shape;
  parameters.read(table, "dragonfly_plus", shape);
  require_members(
      table, "dragonfly_plus",
      {"groups", "leaves", "spines", "ports", "endpoint_capacity", "leaf_capacity", "global_capacity"});
  const Attachment attachment(table,
                              {.groups = shape.groups,
                               .switches = shape.leaves,
                               .ports = shape.ports,
                               .node_ports = shape.node_ports,
                               .node_switches = shape.node_switches},
                              endpoints);
  check_radix(table, shape);
  const std::int64_t leaves = std::int64_t{shape.groups} * shape.leaves;
  check_cables(table, "dragonfly_plus",
               {{leaves, shape.spines, shape.leaf_links}, {pairs_of(shape.groups), shape.global_links}});
  const std::int64_t leaf = leaves * shape.spines * shape.leaf_links;
  const std::int64_t global = pairs_of(shape.groups) * shape.global_links;
  return std::make_shared<DragonflyPlus>(shape, attachment, leaf, global, endpoints);
}

}  // namespace

extern constinit const Topology dragonfly_plus{
    .name = "dragonfly_plus",
    .summary = "groups of leaves and spines, parallel cables between the spines of each two groups",
    .options = [] { return parameters.info(Parameters{}); },
    .routing = Routing::adaptive,
    .build = build,
};

}  // namespace dlnb::topologies
