// SPDX-License-Identifier: Apache-2.0
// The tree of switches that the batch system knows: topology.conf, or what `scontrol show topology` printed. It names
// the nodes and says which switch each hangs on; what cables carry is added here.
//   a switch's cables upwards carry together what its nodes could send, divided by `taper`
//   route: up to the lowest switch above both, and down; parallel cables act as one
// Source of the format: slurm.schedmd.com, topology.conf(5). How many cables there are is not in it, nor are the groups
// of a dragonfly told from the switches of a fat tree; switches of the second level are the groups of placements.
#include <fmt/format.h>

#include <algorithm>
#include <dlnb/error.hpp>
#include <numeric>
#include <ranges>

#include "machine/machine.hpp"
#include "machine/slurm.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb::topologies {
namespace {

struct Parameters {
  std::string file;
  int node_ports = 1;
  BytesPerSecond endpoint_capacity;
  double taper = 1;
  Seconds endpoint_latency;
  Seconds switch_latency;
};
constexpr auto parameters = options(
    option("file", &Parameters::file,
           "topology.conf, or the output of `scontrol show topology`; beside the machine file"),
    option("node_ports", &Parameters::node_ports, "endpoints (NICs) of one node", count_range),
    option("endpoint_capacity", &Parameters::endpoint_capacity, "endpoint to switch, per direction",
           bandwidth_range),
    option("taper", &Parameters::taper, "what the nodes below a switch can send, over what leaves it upwards",
           Range{1e-3, 1e3}),
    option("endpoint_latency", &Parameters::endpoint_latency, "of sending, and of receiving", latency_range),
    option("switch_latency", &Parameters::switch_latency, "of each switch passed", latency_range));

class SlurmFabric final : public Wiring, public NamedNodes {
 public:
  SlurmFabric(const Parameters& shape, const SlurmTree& tree, int endpoints)
      : Wiring(endpoints, std::int64_t(tree.switches.size()),
               std::int64_t{endpoints} + std::int64_t(tree.switches.size())),
        names_(tree.nodes.begin(), tree.nodes.begin() + endpoints / shape.node_ports),
        node_ports_(shape.node_ports) {
    const int switches = int(tree.switches.size());
    leaf_of_.resize(names_.size());
    for (int s = 0; s < switches; ++s)
      for (const int node : tree.switches[std::size_t(s)].nodes)
        if (std::size_t(node) < names_.size()) leaf_of_[std::size_t(node)] = s;
    std::vector<std::int64_t> below(std::size_t(switches), 0);  // endpoints, used or not
    for (int s = 0; s < switches; ++s) {
      parent_.push_back(tree.switches[std::size_t(s)].parent);
      level_.push_back(tree.switches[std::size_t(s)].level);
      below[std::size_t(s)] = std::int64_t(tree.switches[std::size_t(s)].nodes.size()) * node_ports_;
    }
    std::vector<int> upwards(static_cast<std::size_t>(switches));
    std::iota(upwards.begin(), upwards.end(), 0);
    std::ranges::stable_sort(upwards, {}, [this](int s) { return level_[std::size_t(s)]; });
    for (const int s : upwards)
      if (const int parent = parent_[std::size_t(s)]; parent >= 0)
        below[std::size_t(parent)] += below[std::size_t(s)];
    depth_.resize(std::size_t(switches), 0);
    for (const int s : std::views::reverse(upwards))
      if (const int parent = parent_[std::size_t(s)]; parent >= 0)
        depth_[std::size_t(s)] = depth_[std::size_t(parent)] + 1;
    const Link up{shape.endpoint_capacity, shape.endpoint_latency + shape.switch_latency, LinkClass::nic};
    const Link down{shape.endpoint_capacity, shape.endpoint_latency, LinkClass::nic};
    for (int e = 0; e < endpoints; ++e) lay(e, endpoints + switch_of(e), up, down);
    uplink_.resize(std::size_t(switches), -1);
    int cables = endpoints;
    for (int s = 0; s < switches; ++s) {
      if (parent_[std::size_t(s)] < 0 || below[std::size_t(s)] == 0) continue;
      const Link link{shape.endpoint_capacity * (double(below[std::size_t(s)]) / shape.taper),
                      shape.switch_latency,
                      level_[std::size_t(s)] == 0 ? LinkClass::leaf : LinkClass::global};
      lay(endpoints + s, endpoints + parent_[std::size_t(s)], link, link);
      uplink_[std::size_t(s)] = 2 * cables++;
    }
  }

  std::vector<std::string> node_names() const override { return names_; }
  int switch_of(int endpoint) const override { return leaf_of_[std::size_t(endpoint / node_ports_)]; }
  // The switch of the second level above it, unless that is the top.
  int group_of(int endpoint) const override { return group_of_switch(switch_of(endpoint)); }
  int group_of_switch(int at) const override {
    while (level_[std::size_t(at)] < 1 && parent_[std::size_t(at)] >= 0) at = parent_[std::size_t(at)];
    return parent_[std::size_t(at)] < 0 ? 0 : at;
  }

  void minimal_route(int from, int to, std::uint64_t, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    out.push_back(2 * from);
    int a = switch_of(from), b = switch_of(to);
    std::vector<LinkIndex> descent;
    while (a != b) {
      if (depth(a) >= depth(b)) {
        out.push_back(uplink_[std::size_t(a)]);
        a = parent_[std::size_t(a)];
      } else {
        descent.push_back(uplink_[std::size_t(b)] + 1);
        b = parent_[std::size_t(b)];
      }
    }
    out.insert(out.end(), descent.rbegin(), descent.rend());
    out.push_back(2 * to + 1);
  }

 private:
  int depth(int at) const { return depth_[std::size_t(at)]; }

  std::vector<std::string> names_;
  int node_ports_;
  std::vector<int> leaf_of_;         // by node
  std::vector<int> parent_, level_;  // by switch
  std::vector<int> depth_;           // by switch: how many are above it
  std::vector<LinkIndex> uplink_;    // by switch
};

std::shared_ptr<const Fabric> build(const Value& table, int endpoints) {
  Parameters shape;
  parameters.read(table, "slurm_tree", shape);
  require_members(table, "slurm_tree", {"file", "endpoint_capacity"});
  const SlurmTree tree = read_slurm_topology(shape.file, located(*table.find("file"), "slurm_tree.file"));
  if (endpoints % shape.node_ports != 0)
    throw UserError(table.where(),
                    fmt::format("{} endpoints are no whole nodes of {} ports", endpoints, shape.node_ports));
  if (std::size_t(endpoints / shape.node_ports) > tree.nodes.size())
    throw UserError(
        table.where(),
        fmt::format("{} nodes, but {} names {}", endpoints / shape.node_ports, shape.file, tree.nodes.size()),
        "lower the number of nodes");
  return std::make_shared<SlurmFabric>(shape, tree, endpoints);
}

}  // namespace

extern constinit const Topology slurm_tree{
    .name = "slurm_tree",
    .summary = "the switches of a batch system: topology.conf, or the output of `scontrol show topology`",
    .options = [] { return parameters.info(Parameters{}); },
    .build = build,
};

}  // namespace dlnb::topologies
