// SPDX-License-Identifier: Apache-2.0
// Links are numbered node 0's fabric first, then node 1's, …, then the network's.
#include <dlnb/machine.hpp>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

LinkIndex links_of(const std::shared_ptr<const Fabric>& fabric) {
  return fabric ? LinkIndex(fabric->links().size()) : 0;
}

// Link numbers of a fabric become the machine's.
void move_up(std::vector<LinkIndex>& links, std::size_t from, LinkIndex offset) {
  for (std::size_t i = from; i < links.size(); ++i) links[i] += offset;
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

const char* name_of(Routing routing) {
  switch (routing) {
    case Routing::minimal: return "minimal";
    case Routing::ecmp: return "ecmp";
    case Routing::spray: return "spray";
    case Routing::adaptive: return "adaptive";
  }
  return "?";
}

const char* name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::simple: return "simple";
    case Protocol::ll128: return "ll128";
    case Protocol::ll: return "ll";
  }
  return "?";
}

namespace {

const TuningCost* find(const std::vector<TuningCost>& costs, std::string_view algorithm, Protocol protocol) {
  for (const TuningCost& cost : costs)
    if (cost.algorithm == algorithm && cost.protocol == protocol) return &cost;
  return nullptr;
}

}  // namespace

const TuningCost* Library::find(std::string_view algorithm, Protocol protocol) const {
  return dlnb::find(costs, algorithm, protocol);
}

const TuningCost* Software::tuned_cost(std::string_view algorithm, Protocol protocol) const {
  if (!library) return nullptr;
  if (const TuningCost* own = dlnb::find(costs, algorithm, protocol)) return own;
  return library->find(algorithm, protocol);
}

int Machine::nic_of(int which) const { return which % devices_per_node * nics_per_node / devices_per_node; }

int Machine::links() const { return nodes * links_of(node_fabric) + links_of(network); }

const Link& Machine::link(LinkIndex index) const {
  const LinkIndex per_node = links_of(node_fabric), in_nodes = nodes * per_node;
  DLNB_REQUIRE(index >= 0 && index < links(), "a link index is below the machine's number of links");
  return index < in_nodes ? node_fabric->links()[std::size_t(index % per_node)]
                          : network->links()[std::size_t(index - in_nodes)];
}

LinkIndex Machine::first_network_link() const { return nodes * links_of(node_fabric); }

void Machine::route(int from, int to, std::uint64_t flow, std::vector<LinkIndex>& out) const {
  if (from == to) return;
  const std::size_t before = out.size();
  if (const int node = node_of(from); node == node_of(to)) {
    DLNB_REQUIRE(node_fabric, "two devices of one node are joined by a node fabric");
    const int first = node * devices_per_node;
    node_fabric->route(from - first, to - first, flow, out);
    return move_up(out, before, node * links_of(node_fabric));
  }
  DLNB_REQUIRE(network && nics_per_node > 0, "two nodes are joined by a network");
  const int a = endpoint_of(from), b = endpoint_of(to);
  if (routing == Routing::minimal) network->minimal_route(a, b, std::uint64_t(b), out);
  else network->route(a, b, flow, out);
  move_up(out, before, first_network_link());
}

}  // namespace dlnb
