// SPDX-License-Identifier: Apache-2.0
// Dragonfly: groups of fully connected switches, each pair of groups joined by parallel global cables.
//                                                            [Kim, Dally, Scott, Abts, ISCA 2008; Slingshot:
//                                                            De Sensi 2020]
// A group's global cables are dealt to its switches round robin: the k-th of L cables to the p-th other group
// sits on switch (p·L + k) mod S, so that no switch has more than one cable more than another.
//   minimal routes take at most one global cable:  [local] global [local]
//   global_paths = "shortest"  the global cables that need the fewest local hops
//                = "parallel"  any of the L, as load-adaptive hardware uses them; up to two hops longer
// Non-minimal (Valiant) detours are not taken.
#include <fmt/format.h>

#include <algorithm>
#include <dlnb/error.hpp>

#include "machine/attachment.hpp"
#include "machine/machine.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb::topologies {
namespace {

enum class GlobalPaths : std::uint8_t { shortest, parallel };

struct Parameters {
  int groups = 1;
  int switches = 1;
  int ports = 1;
  int node_ports = 1;
  int node_switches = 1;
  int local_links = 1;
  int global_links = 1;
  int local_ports = 0;
  int global_ports = 0;
  GlobalPaths global_paths = GlobalPaths::shortest;
  BytesPerSecond endpoint_capacity;
  BytesPerSecond local_capacity;
  BytesPerSecond global_capacity;
  Seconds endpoint_latency;
  Seconds switch_latency;
  Seconds global_latency;
};
constexpr auto parameters = options(
    option("groups", &Parameters::groups, "groups", count_range),
    option("switches", &Parameters::switches, "switches in a group", count_range),
    option("ports", &Parameters::ports, "endpoints on a switch", count_range),
    option("node_ports", &Parameters::node_ports, "endpoints (NICs) of one node", count_range),
    option("node_switches", &Parameters::node_switches, "switches a node's endpoints are spread over",
           count_range),
    option("local_links", &Parameters::local_links, "cables between each two switches of a group",
           count_range),
    option("global_links", &Parameters::global_links, "cables between each two groups", count_range),
    option("local_ports", &Parameters::local_ports, "ports a switch has for its group; 0: as many as needed",
           count_or_none),
    option("global_ports", &Parameters::global_ports,
           "ports a switch has for other groups; 0: as many as needed", count_or_none),
    choice("global_paths", &Parameters::global_paths, "which cables between two groups flows are spread over",
           std::array{Word<GlobalPaths>{"shortest", GlobalPaths::shortest},
                      Word<GlobalPaths>{"parallel", GlobalPaths::parallel}}),
    option("endpoint_capacity", &Parameters::endpoint_capacity, "endpoint to switch, per direction",
           bandwidth_range),
    option("local_capacity", &Parameters::local_capacity, "of a cable in a group, per direction",
           bandwidth_range),
    option("global_capacity", &Parameters::global_capacity, "of a cable between groups", bandwidth_range),
    option("endpoint_latency", &Parameters::endpoint_latency, "of sending, and of receiving", latency_range),
    option("switch_latency", &Parameters::switch_latency, "of each switch passed", latency_range),
    option("global_latency", &Parameters::global_latency, "of a global cable, on top", latency_range));

class Dragonfly final : public Wiring {
 public:
  Dragonfly(const Parameters& shape, const Attachment& attachment, std::int64_t local, std::int64_t global,
            int endpoints)
      : Wiring(endpoints, std::int64_t{shape.groups} * shape.switches, endpoints + local + global),
        attachment_(attachment),
        groups_(shape.groups),
        switches_(shape.switches),
        local_links_(shape.local_links),
        global_links_(shape.global_links),
        paths_(shape.global_paths),
        local_cables_(endpoints),
        global_cables_(int(endpoints + local)) {
    const Link up{shape.endpoint_capacity, shape.endpoint_latency + shape.switch_latency, LinkClass::nic};
    const Link down{shape.endpoint_capacity, shape.endpoint_latency, LinkClass::nic};
    for (int e = 0; e < endpoints; ++e) lay(e, endpoints + attachment.switch_of(e), up, down);

    const Link inside{shape.local_capacity, shape.switch_latency, LinkClass::group};
    for (int g = 0; g < groups_; ++g)
      for (int i = 0; i < switches_; ++i)
        for (int j = i + 1; j < switches_; ++j)
          for (int copy = 0; copy < local_links_; ++copy)
            lay(endpoints + g * switches_ + i, endpoints + g * switches_ + j, inside, inside);

    const Link between{shape.global_capacity, shape.switch_latency + shape.global_latency, LinkClass::global};
    for (int g = 0; g < groups_; ++g)
      for (int h = g + 1; h < groups_; ++h)
        for (int k = 0; k < global_links_; ++k)
          lay(endpoints + g * switches_ + gateway(g, h, k), endpoints + h * switches_ + gateway(h, g, k),
              between, between);
  }

  int switch_of(int endpoint) const override { return attachment_.switch_of(endpoint); }
  int group_of(int endpoint) const override { return attachment_.group_of(endpoint); }

  void route(int from, int to, std::uint64_t flow, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    out.push_back(2 * from);
    const int a = switch_of(from), b = switch_of(to);
    const int group_a = a / switches_, group_b = b / switches_;
    Pick pick{spread(from, to, flow)};
    if (group_a == group_b) {
      step(group_a, a % switches_, b % switches_, pick, out);
    } else {
      const int cable = choose(group_a, a % switches_, group_b, b % switches_, pick);
      step(group_a, a % switches_, gateway(group_a, group_b, cable), pick, out);
      const auto pair = pair_index(std::min(group_a, group_b), std::max(group_a, group_b), groups_);
      out.push_back(LinkIndex(2 * (global_cables_ + pair * global_links_ + cable) + (group_a > group_b)));
      step(group_b, gateway(group_b, group_a, cable), b % switches_, pick, out);
    }
    out.push_back(2 * to + 1);
  }

 private:
  // Which other group `to` is, seen from group `from`.
  static int place(int from, int to) { return to < from ? to : to - 1; }
  // Switch of group `from` that holds its k-th cable to group `to`.
  int gateway(int from, int to, int k) const {
    return int((std::int64_t{place(from, to)} * global_links_ + k) % switches_);
  }
  // The first k whose cable from group `from` to `to` sits on `at`: those are k, k + S, k + 2S, …
  int first_cable(int from, int to, int at) const {
    const int shift = int(std::int64_t{place(from, to)} * global_links_ % switches_);
    return (at - shift + switches_) % switches_;
  }
  int cables_from(int first) const {
    return first < global_links_ ? (global_links_ - 1 - first) / switches_ + 1 : 0;
  }

  int choose(int group_a, int a, int group_b, int b, Pick& pick) const {
    if (paths_ == GlobalPaths::parallel) return pick.below(global_links_);
    const int near_a = first_cable(group_a, group_b, a), near_b = first_cable(group_b, group_a, b);
    const int count_a = cables_from(near_a), count_b = cables_from(near_b);
    if (count_a == 0 && count_b == 0) return pick.below(global_links_);
    const int near = pick.below(count_a + count_b);
    return near < count_a ? near_a + near * switches_ : near_b + (near - count_a) * switches_;
  }

  void step(int group, int a, int b, Pick& pick, std::vector<LinkIndex>& out) const {
    if (a == b) return;
    const auto pair = pairs_of(switches_) * group + pair_index(std::min(a, b), std::max(a, b), switches_);
    out.push_back(LinkIndex(2 * (local_cables_ + pair * local_links_ + pick.below(local_links_)) + (a > b)));
  }

  Attachment attachment_;
  int groups_, switches_, local_links_, global_links_;
  GlobalPaths paths_;
  int local_cables_, global_cables_;  // the first of each kind
};

void check_ports(const Value& table, const Parameters& shape) {
  const std::int64_t local = std::int64_t{shape.switches - 1} * shape.local_links;
  const std::int64_t global =
      (std::int64_t{shape.groups - 1} * shape.global_links + shape.switches - 1) / shape.switches;
  if (shape.local_ports > 0 && local > shape.local_ports)
    throw UserError(located(*table.find("local_ports"), "dragonfly.local_ports"),
                    fmt::format("{} other switches × {} links need {} ports, a switch has {}",
                                shape.switches - 1, shape.local_links, local, shape.local_ports));
  if (shape.global_ports > 0 && global > shape.global_ports)
    throw UserError(
        located(*table.find("global_ports"), "dragonfly.global_ports"),
        fmt::format("{} other groups × {} links over {} switches need {} ports, "
                    "a switch has {}",
                    shape.groups - 1, shape.global_links, shape.switches, global, shape.global_ports));
}

std::shared_ptr<const Fabric> build(const Value& table, int endpoints) {
  Parameters shape;
  parameters.read(table, "dragonfly", shape);
  require_members(table, "dragonfly",
                  {"groups", "switches", "ports", "endpoint_capacity", "local_capacity", "global_capacity"});
  const Attachment attachment(table,
                              {.groups = shape.groups,
                               .switches = shape.switches,
                               .ports = shape.ports,
                               .node_ports = shape.node_ports,
                               .node_switches = shape.node_switches},
                              endpoints);
  check_ports(table, shape);
  check_cables(table, "dragonfly",
               {{shape.groups, pairs_of(shape.switches), shape.local_links},
                {pairs_of(shape.groups), shape.global_links}});
  const std::int64_t local = shape.groups * pairs_of(shape.switches) * shape.local_links;
  const std::int64_t global = pairs_of(shape.groups) * shape.global_links;
  return std::make_shared<Dragonfly>(shape, attachment, local, global, endpoints);
}

}  // namespace

extern constinit const Topology dragonfly{
    .name = "dragonfly",
    .summary = "groups of fully connected switches, parallel cables between each two groups",
    .options = [] { return parameters.info(Parameters{}); },
    .build = build,
};

}  // namespace dlnb::topologies
