// SPDX-License-Identifier: Apache-2.0
// Fat tree of two levels (leaves and spines), or three: pods of those under core switches in planes, plane j
// joining the j-th spine of every pod.                                       [Leiserson 1985; Al-Fares,
// Loukissas, Vahdat 2008]
//   routes: leaf                        same leaf
//           leaf, spine, leaf           same pod; spine and parallel cable by hash
//           leaf, spine, core, spine, leaf
// node_switches = node_ports gives the rail-optimised layout: the i-th NICs of many nodes share a leaf.
#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "machine/attachment.hpp"
#include "machine/machine.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb::topologies {
namespace {

struct Parameters {
  int pods = 1;
  int leaves = 2;
  int spines = 1;
  int ports = 2;
  int node_ports = 1;
  int node_switches = 1;
  int leaf_links = 1;
  int core_links = 0;
  int radix = 0;
  BytesPerSecond endpoint_capacity;
  BytesPerSecond leaf_capacity;
  BytesPerSecond core_capacity;
  Seconds endpoint_latency;
  Seconds switch_latency;
};
constexpr auto parameters = options(
    option("pods", &Parameters::pods, "leaf-and-spine blocks, joined by cores; 0: as many as the nodes fill",
           count_or_none),
    option("leaves", &Parameters::leaves, "leaf switches in a pod", count_range),
    option("spines", &Parameters::spines, "spine switches in a pod", count_range),
    option("ports", &Parameters::ports, "endpoints on a leaf", count_range),
    option("node_ports", &Parameters::node_ports, "endpoints (NICs) of one node", count_range),
    option("node_switches", &Parameters::node_switches, "leaves that a node's endpoints are spread over",
           count_range),
    option("leaf_links", &Parameters::leaf_links, "cables between each leaf and each spine of its pod",
           count_range),
    option("core_links", &Parameters::core_links, "cores above each spine, one cable to each", count_or_none),
    option("radix", &Parameters::radix,
           "ports of a switch, counted in the leaf-spine speed; 0: as many as needed", count_or_none),
    option("endpoint_capacity", &Parameters::endpoint_capacity, "endpoint to leaf, per direction",
           bandwidth_range),
    option("leaf_capacity", &Parameters::leaf_capacity, "of a leaf-spine cable, per direction",
           bandwidth_range),
    option("core_capacity", &Parameters::core_capacity, "of a spine-core cable, per direction",
           bandwidth_range),
    option("endpoint_latency", &Parameters::endpoint_latency, "of sending, and of receiving", latency_range),
    option("switch_latency", &Parameters::switch_latency, "of each switch passed", latency_range));

struct Sizes {
  std::int64_t leaves, spines, cores, leaf_cables, core_cables;
};

class FatTree final : public Wiring {
 public:
  FatTree(const Parameters& shape, const Sizes& sizes, const Attachment& attachment, int endpoints)
      : Wiring(endpoints, sizes.leaves + sizes.spines + sizes.cores,
               endpoints + sizes.leaf_cables + sizes.core_cables),
        attachment_(attachment),
        leaves_(shape.leaves),
        spines_(shape.spines),
        leaf_links_(shape.leaf_links),
        core_links_(shape.core_links),
        first_spine_(int(sizes.leaves)),
        leaf_cables_(endpoints),
        core_cables_(int(endpoints + sizes.leaf_cables)) {
    const int first_leaf = endpoints, first_spine = first_leaf + first_spine_;
    const int first_core = int(first_spine + sizes.spines);
    const Link up{shape.endpoint_capacity, shape.endpoint_latency + shape.switch_latency, LinkClass::nic};
    const Link down{shape.endpoint_capacity, shape.endpoint_latency, LinkClass::nic};
    for (int e = 0; e < endpoints; ++e) lay(e, first_leaf + attachment.switch_of(e), up, down);

    const Link leaf{shape.leaf_capacity, shape.switch_latency, LinkClass::leaf};
    for (int l = 0; l < int(sizes.leaves); ++l)
      for (int s = 0; s < spines_; ++s)
        for (int copy = 0; copy < leaf_links_; ++copy)
          lay(first_leaf + l, first_spine + l / leaves_ * spines_ + s, leaf, leaf);

    const Link core{shape.core_capacity, shape.switch_latency, LinkClass::global};
    if (sizes.cores > 0)
      for (int s = 0; s < int(sizes.spines); ++s)
        for (int c = 0; c < core_links_; ++c)
          lay(first_spine + s, first_core + s % spines_ * core_links_ + c, core, core);
  }

  int switch_of(int endpoint) const override { return attachment_.switch_of(endpoint); }
  int group_of(int endpoint) const override { return attachment_.group_of(endpoint); }

  int group_of_switch(int index) const override {
    if (index < first_spine_) return index / leaves_;
    const int pod = (index - first_spine_) / spines_;
    return pod < first_spine_ / leaves_ ? pod : -1;
  }

  std::int64_t minimal_routes(int from, int to) const override {
    const int a = switch_of(from), b = switch_of(to);
    if (a == b) return 1;
    const std::int64_t in_pod = std::int64_t{spines_} * leaf_links_ * leaf_links_;
    return a / leaves_ == b / leaves_ ? in_pod : in_pod * core_links_;
  }

  void minimal_route(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    out.push_back(2 * from);
    const int a = switch_of(from), b = switch_of(to);
    if (a != b) {
      Pick pick{choice};
      const int spine = pick.below(spines_);
      const int up = 2 * leaf_cable(a, spine, pick.below(leaf_links_));
      const int down = 2 * leaf_cable(b, spine, pick.below(leaf_links_)) + 1;
      out.push_back(up);
      const int pod_a = a / leaves_, pod_b = b / leaves_;
      if (pod_a != pod_b) {
        const int core = pick.below(core_links_);
        out.push_back(2 * core_cable(pod_a, spine, core));
        out.push_back(2 * core_cable(pod_b, spine, core) + 1);
      }
      out.push_back(down);
    }
    out.push_back(2 * to + 1);
  }

 private:
  int leaf_cable(int leaf, int spine, int copy) const {
    return leaf_cables_ + (leaf * spines_ + spine) * leaf_links_ + copy;
  }
  int core_cable(int pod, int spine, int core) const {
    return core_cables_ + (pod * spines_ + spine) * core_links_ + core;
  }

  Attachment attachment_;
  int leaves_, spines_, leaf_links_, core_links_;
  int first_spine_;                // among the switches
  int leaf_cables_, core_cables_;  // the first of each kind
};

// Counts a switch's ports in cables of the leaf-spine speed: two endpoints at half of it share one port.
void check_radix(const Value& table, const Parameters& shape) {
  if (shape.radix == 0) return;
  auto check = [&](double needed, const char* which) {
    if (needed > shape.radix)
      throw UserError(located(table, "fat_tree.radix"),
                      fmt::format("a {} needs {:g} ports, a switch has {}", which, needed, shape.radix));
  };
  const double shared = shape.endpoint_capacity.value / shape.leaf_capacity.value;
  check(shape.ports * shared + double(shape.spines) * shape.leaf_links, "leaf");
  check(double(shape.leaves) * shape.leaf_links + shape.core_links, "spine");
  check(shape.pods > 1 ? shape.pods : 0, "core");
}

std::shared_ptr<const Fabric> build(const Value& table, int endpoints) {
  Parameters shape;
  parameters.read(table, "fat_tree", shape);
  require_members(table, "fat_tree", {"leaves", "spines", "ports", "endpoint_capacity", "leaf_capacity"});
  const bool grows = shape.pods == 0;
  if (grows) {
    const std::int64_t in_pod = std::int64_t{shape.leaves} * shape.ports;
    shape.pods = int((endpoints + in_pod - 1) / in_pod);
  }
  if (shape.pods > 1) {
    require_members(table, "fat_tree", {"core_links", "core_capacity"});
    if (shape.core_links < 1)
      throw UserError(located(*table.find("core_links"), "fat_tree.core_links"),
                      "pods are joined by at least one core");
  } else if (shape.core_links > 0 && !grows) {
    throw UserError(located(*table.find("core_links"), "fat_tree.core_links"),
                    "one pod has no cores above it", "set pods, or leave core_links out");
  }
  const Attachment attachment(table,
                              {.groups = shape.pods,
                               .switches = shape.leaves,
                               .ports = shape.ports,
                               .node_ports = shape.node_ports,
                               .node_switches = shape.node_switches},
                              endpoints);
  check_radix(table, shape);

  Sizes sizes{};
  sizes.leaves = std::int64_t{shape.pods} * shape.leaves;
  sizes.spines = std::int64_t{shape.pods} * shape.spines;
  sizes.cores = shape.pods > 1 ? std::int64_t{shape.spines} * shape.core_links : 0;
  check_cables(table, "fat_tree",
               {{sizes.leaves, shape.spines, shape.leaf_links}, {sizes.spines, shape.core_links}});
  sizes.leaf_cables = sizes.leaves * shape.spines * shape.leaf_links;
  sizes.core_cables = sizes.cores > 0 ? sizes.spines * shape.core_links : 0;
  return std::make_shared<FatTree>(shape, sizes, attachment, endpoints);
}

}  // namespace

extern constinit const Topology fat_tree{
    .name = "fat_tree",
    .summary = "leaves and spines, in two levels or in pods under cores; rail-optimised by node_switches",
    .options = [] { return parameters.info(Parameters{}); },
    .routing = Routing::ecmp,
    .build = build,
};

}  // namespace dlnb::topologies
