// SPDX-License-Identifier: Apache-2.0
#include <dlnb/machine.hpp>

#include <gtest/gtest.h>

namespace dlnb {
namespace {

// Every endpoint has one link up (its number) and one down (endpoints + its number).
class Star : public Fabric {
 public:
  Star(int endpoints, LinkClass link_class)
      : endpoints_(endpoints), links_(std::size_t(2 * endpoints), Link{{1e9}, {1e-6}, link_class}) {}

  int endpoints() const override { return endpoints_; }
  std::span<const Link> links() const override { return links_; }
  void route(int from, int to, std::uint64_t, std::vector<LinkIndex>& out) const override {
    if (from != to) out.insert(out.end(), {from, endpoints_ + to});
  }

 private:
  int endpoints_;
  std::vector<Link> links_;
};

// 3 nodes of 4 devices with 2 NICs each: 3 · 8 node links, then 2 · 6 of the network.
Machine three_nodes() {
  Machine machine;
  machine.nodes = 3;
  machine.devices_per_node = 4;
  machine.nics_per_node = 2;
  machine.node_fabric = std::make_shared<Star>(4, LinkClass::node);
  machine.network = std::make_shared<Star>(3 * 2, LinkClass::nic);
  return machine;
}

std::vector<LinkIndex> route(const Machine& machine, int from, int to) {
  std::vector<LinkIndex> links;
  machine.route(from, to, 0, links);
  return links;
}

TEST(Machine, CountsItsLinks) {
  EXPECT_EQ(three_nodes().links(), 3 * 8 + 2 * 6);
  EXPECT_EQ(three_nodes().devices(), 3 * 4);
}

TEST(Machine, SharesNicsAmongDevices) {
  const Machine machine = three_nodes();

  for (const auto& [device, nic] : {std::pair{0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 0}, {11, 1}})
    EXPECT_EQ(machine.nic_of(device), nic) << device;
}

TEST(Machine, GivesEveryDeviceOneOfManyNics) {
  Machine machine = three_nodes();
  machine.nics_per_node = 8;

  EXPECT_EQ(machine.nic_of(3), 3 * 8 / 4);
}

TEST(Machine, RoutesInsideANode) {
  // Devices 5 and 7 are 1 and 3 of node 1, whose links start at 8.
  EXPECT_EQ(route(three_nodes(), 5, 7), (std::vector<LinkIndex>{8 + 1, 8 + 4 + 3}));
}

TEST(Machine, RoutesBetweenNodesOverTheNics) {
  // Device 3: node 0, NIC 1; device 8: node 2, NIC 0; the network's links start at 24.
  const Machine machine = three_nodes();

  EXPECT_EQ(route(machine, 3, 8), (std::vector<LinkIndex>{24 + (0 * 2 + 1), 24 + 6 + (2 * 2 + 0)}));
  EXPECT_EQ(machine.link(24 + 1).link_class, LinkClass::nic);
  EXPECT_EQ(machine.link(23).link_class, LinkClass::node);
}

TEST(Machine, NeedsNoRouteToItself) { EXPECT_TRUE(route(three_nodes(), 6, 6).empty()); }

TEST(Machine, KeepsWhatIsInTheRouteAlready) {
  std::vector<LinkIndex> links{99};

  three_nodes().route(5, 7, 0, links);

  EXPECT_EQ(links, (std::vector<LinkIndex>{99, 8 + 1, 8 + 4 + 3}));
}

}  // namespace
}  // namespace dlnb
