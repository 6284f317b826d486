// SPDX-License-Identifier: Apache-2.0
// Links are numbered node 0's fabric first, then node 1's, …, then the network's.
#include <dlnb/machine.hpp>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

LinkIndex links_of(const std::shared_ptr<const Fabric>& fabric) {
  return fabric ? LinkIndex(fabric->links().size()) : 0;
}

// Appends a fabric's route with its link numbers moved up by `offset`.
void append_route(const Fabric& fabric, int from, int to, std::uint64_t flow, LinkIndex offset,
                  std::vector<LinkIndex>& out) {
  const std::size_t before = out.size();
  fabric.route(from, to, flow, out);
  for (std::size_t i = before; i < out.size(); ++i) out[i] += offset;
}

}  // namespace

const char* name_of(LinkClass link_class) {
  switch (link_class) {
    case LinkClass::device: return "device";
    case LinkClass::node: return "node";
    case LinkClass::nic: return "nic";
    case LinkClass::leaf: return "leaf";
    case LinkClass::group: return "group";
    case LinkClass::global: return "global";
  }
  return "?";
}

int Machine::nic_of(int which) const { return which % devices_per_node * nics_per_node / devices_per_node; }

int Machine::links() const { return nodes * links_of(node_fabric) + links_of(network); }

const Link& Machine::link(LinkIndex index) const {
  const LinkIndex per_node = links_of(node_fabric), in_nodes = nodes * per_node;
  DLNB_REQUIRE(index >= 0 && index < links(), "a link index is below the machine's number of links");
  return index < in_nodes ? node_fabric->links()[std::size_t(index % per_node)]
                          : network->links()[std::size_t(index - in_nodes)];
}

void Machine::route(int from, int to, std::uint64_t flow, std::vector<LinkIndex>& out) const {
  if (from == to) return;
  const LinkIndex per_node = links_of(node_fabric);
  const int from_node = node_of(from), to_node = node_of(to);
  if (from_node == to_node) {
    DLNB_REQUIRE(node_fabric, "two devices of one node are joined by a node fabric");
    append_route(*node_fabric, from % devices_per_node, to % devices_per_node, flow, from_node * per_node,
                 out);
    return;
  }
  DLNB_REQUIRE(network && nics_per_node > 0, "two nodes are joined by a network");
  append_route(*network, from_node * nics_per_node + nic_of(from), to_node * nics_per_node + nic_of(to), flow,
               nodes * per_node, out);
}

}  // namespace dlnb
