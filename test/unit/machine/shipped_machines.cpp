// SPDX-License-Identifier: Apache-2.0
// The shipped machines against what is published of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "machines.hpp"

namespace dlnb {
namespace {

using namespace literals;

const Machine& machine(const std::string& name) {
  static std::map<std::string, Machine> loaded;
  if (!loaded.count(name)) loaded[name] = load_machine(name, "test");
  return loaded[name];
}

std::map<LinkClass, std::int64_t> cables_per_class(const Fabric& fabric) {
  std::map<LinkClass, std::int64_t> count;
  for (std::size_t i = 0; i < fabric.links().size(); i += 2) ++count[fabric.links()[i].link_class];
  return count;
}

// Cables ending at each vertex, by class.
std::map<int, std::map<LinkClass, int>> ports(const Fabric& fabric) {
  const Wiring& wiring = test::wiring_of(fabric);
  std::map<int, std::map<LinkClass, int>> ports;
  for (LinkIndex link = 0; link < LinkIndex(fabric.links().size()); ++link)
    ++ports[wiring.ends(link).from][fabric.links()[std::size_t(link)].link_class];
  return ports;
}

// Bytes per second that leave group 0, all global cables together.
double leaving_group(const Fabric& fabric, LinkClass global = LinkClass::global) {
  const Wiring& wiring = test::wiring_of(fabric);
  std::set<int> inside;  // switches that a walk over non-global links reaches from endpoint 0
  inside.insert(0);
  for (bool grew = true; grew;) {
    grew = false;
    for (LinkIndex link = 0; link < LinkIndex(fabric.links().size()); ++link)
      if (fabric.links()[std::size_t(link)].link_class != global && inside.count(wiring.ends(link).from))
        grew |= inside.insert(wiring.ends(link).to).second;
  }
  double sum = 0;
  for (LinkIndex link = 0; link < LinkIndex(fabric.links().size()); ++link)
    if (fabric.links()[std::size_t(link)].link_class == global && inside.count(wiring.ends(link).from))
      sum += fabric.links()[std::size_t(link)].capacity.value;
  return sum;
}

double node_links_from(const Machine& m, int device) {
  const Wiring& wiring = test::wiring_of(*m.node_fabric);
  double sum = 0;
  for (LinkIndex link = 0; link < LinkIndex(m.node_fabric->links().size()); ++link)
    if (wiring.ends(link).from == device) sum += m.node_fabric->links()[std::size_t(link)].capacity.value;
  return sum;
}

class EveryMachine : public testing::TestWithParam<std::string> {};

TEST_P(EveryMachine, IsCitedAndWhole) {
  const Machine& m = machine(GetParam());

  EXPECT_EQ(m.name, GetParam());
  EXPECT_FALSE(m.summary.empty());
  EXPECT_FALSE(m.source.empty());
  EXPECT_FALSE(m.topology.empty());
  EXPECT_FALSE(m.device.source.empty());
  EXPECT_NE(m.software.library, nullptr);
}

TEST_P(EveryMachine, LeadsFromAnyDeviceToAnyOther) {
  const Machine& m = machine(GetParam());
  const int step = std::max(1, m.devices() / 97);
  std::vector<LinkIndex> links;

  for (int from = 0; from < m.devices(); from += step)
    for (int to = 0; to < m.devices(); to += step) {
      links.clear();
      m.route(from, to, std::uint64_t(from), links);

      EXPECT_EQ(links.empty(), from == to);
      for (const LinkIndex link : links) ASSERT_GT(m.link(link).capacity.value, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Shipped, EveryMachine, testing::ValuesIn(shipped_machines()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(ShippedMachines, AreThoseOfThePapers) {
  const std::vector<std::string> names = shipped_machines();

  for (const char* name : {"alps", "dgx-a100", "gb300-nvl72", "jupiter", "leonardo", "lumi", "dgx-v100",
                           "dgx-h100", "lassen", "piz-daint", "perlmutter"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

TEST(DgxA100, CarriesThePublishedNvlinkBandwidth) {
  const Machine& m = machine("dgx-a100");

  EXPECT_EQ(m.devices(), 8);
  EXPECT_EQ(node_links_from(m, 3), 12 * 25e9);  // twelve NVLinks of 25 GB/s
  double both = 0;
  for (const Link& link : m.node_fabric->links()) both += link.capacity.value;
  EXPECT_EQ(both, 4.8e12);  // all eight GPUs, both directions [paper, III-A]
}

TEST(Gb300Nvl72, CarriesThePublishedNvlinkBandwidth) {
  const Machine& m = machine("gb300-nvl72");

  EXPECT_EQ(m.devices(), 72);
  double both = 0;
  for (const Link& link : m.node_fabric->links()) both += link.capacity.value;
  EXPECT_EQ(both, 72 * 1.8e12);                             // 130 TB/s in the rack [paper, III-B]
  EXPECT_NEAR(72 * m.device.peak.value * 2, 360e15, 1e12);  // the paper's 360 PFLOP/s are with sparsity
}

TEST(Leonardo, HasThePublishedStructure) {
  const Machine& m = machine("leonardo");

  EXPECT_EQ(m.devices(), 13824);
  EXPECT_EQ(m.nics_per_node, 4);
  EXPECT_EQ(m.topology, "dragonfly_plus, 23 groups");
  EXPECT_EQ(cables_per_class(*m.network),
            (std::map<LinkClass, std::int64_t>{{LinkClass::nic, 3456 * 4},
                                               {LinkClass::leaf, 23 * 18 * 18},
                                               {LinkClass::global, 23 * 22 / 2 * 18}}));
  EXPECT_EQ(m.network->group_of(179 * 4 + 3), 0);  // 180 nodes in a group
  EXPECT_EQ(m.network->group_of(180 * 4), 1);
  EXPECT_EQ(m.network->switch_of(9 * 4 + 3), 0);  // 10 nodes on a leaf
  EXPECT_EQ(m.network->switch_of(10 * 4), 1);
  EXPECT_EQ(node_links_from(m, 0), 3 * 100e9);  // 800 Gbit/s to each of three others
}

TEST(Leonardo, FillsItsSwitchesPortsAsPublished) {
  const Machine& m = machine("leonardo");
  const int first_leaf = m.network->endpoints();

  for (auto& [vertex, of] : ports(*m.network)) {
    if (vertex < first_leaf) continue;
    EXPECT_EQ(of[LinkClass::leaf], 18);
    EXPECT_TRUE(of[LinkClass::global] == 22 || of[LinkClass::global] == 0);  // spines; leaves
    EXPECT_LE(of[LinkClass::nic], of[LinkClass::global] == 0 ? 40 : 0);
  }
  // 18 spines × 22 ports × 25 GB/s leave a group.
  EXPECT_EQ(leaving_group(*m.network), 18 * 22 * 25e9);
}

TEST(Jupiter, HasThePublishedStructure) {
  const Machine& m = machine("jupiter");

  EXPECT_EQ(m.devices(), 23536);
  EXPECT_EQ(m.topology, "dragonfly_plus, 25 groups");
  EXPECT_EQ(cables_per_class(*m.network),
            (std::map<LinkClass, std::int64_t>{{LinkClass::nic, 5884 * 4},
                                               {LinkClass::leaf, 25 * 15 * 16},
                                               {LinkClass::global, 25 * 24 / 2 * 30}}));
  EXPECT_EQ(m.network->group_of(239 * 4 + 3), 0);  // 240 nodes in a group
  EXPECT_EQ(m.network->group_of(240 * 4), 1);
  EXPECT_EQ(leaving_group(*m.network), 24 * 30 * 50e9);
  EXPECT_EQ(node_links_from(m, 1), 3 * 150e9);
  for (auto& [vertex, of] : ports(*m.network)) {
    if (vertex < m.network->endpoints()) continue;
    EXPECT_LE(of[LinkClass::nic] / 2 + of[LinkClass::leaf] + of[LinkClass::global],
              64);  // two NICs share a port
    EXPECT_TRUE(of[LinkClass::global] == 24 * 30 / 16 || of[LinkClass::global] == 0);  // spines; leaves
  }
}

TEST(Alps, HasThePublishedStructure) {
  const Machine& m = machine("alps");

  EXPECT_EQ(m.devices(), 10752);
  EXPECT_EQ(m.topology, "dragonfly, 21 groups");
  EXPECT_EQ(cables_per_class(*m.network),
            (std::map<LinkClass, std::int64_t>{{LinkClass::nic, 2688 * 4},
                                               {LinkClass::group, 21 * 32 * 31 / 2},
                                               {LinkClass::global, 21 * 20 / 2 * 27}}));
  EXPECT_EQ(node_links_from(m, 2), 3 * 150e9);  // 1.2 Tbit/s to each of three others
  for (auto& [vertex, of] : ports(*m.network)) {
    if (vertex < m.network->endpoints()) continue;
    EXPECT_EQ(of[LinkClass::nic], 16);
    EXPECT_EQ(of[LinkClass::group], 31);
    EXPECT_LE(of[LinkClass::global], 17);
  }
}

TEST(Lumi, HasThePublishedStructure) {
  const Machine& m = machine("lumi");

  EXPECT_EQ(m.devices(), 2976 * 8);
  EXPECT_EQ(m.nics_per_node, 4);
  EXPECT_EQ(m.topology, "dragonfly, 24 groups");
  EXPECT_EQ(cables_per_class(*m.network),
            (std::map<LinkClass, std::int64_t>{{LinkClass::nic, 2976 * 4},
                                               {LinkClass::group, 24 * 31 * 30 / 2},
                                               {LinkClass::global, 24 * 23 / 2 * 20}}));
  EXPECT_EQ(m.network->group_of(123 * 4 + 3), 0);  // 124 nodes in a group
  EXPECT_EQ(m.network->group_of(124 * 4), 1);
  for (int nic = 0; nic < 8; ++nic) EXPECT_EQ(m.nic_of(nic), nic / 2);  // two GCDs share a module's NIC
  for (auto& [vertex, of] : ports(*m.network)) {
    if (vertex < m.network->endpoints()) continue;
    EXPECT_EQ(of[LinkClass::nic], 16);
    EXPECT_LE(of[LinkClass::group], 31);
    EXPECT_LE(of[LinkClass::global], 17);
  }
  // 276 TB/s among the GPU groups, both directions.
  double among = 0;
  for (const Link& link : m.network->links())
    if (link.link_class == LinkClass::global) among += link.capacity.value;
  EXPECT_EQ(among, 276e12);
}

TEST(Lumi, JoinsItsGcdsByOneToFourLinks) {
  const Machine& m = machine("lumi");
  std::map<double, int> cables;
  for (std::size_t i = 0; i < m.node_fabric->links().size(); i += 2)
    ++cables[m.node_fabric->links()[i].capacity.value / 50e9];

  EXPECT_EQ(cables, (std::map<double, int>{{4, 4}, {2, 2}, {1, 6}}));
  // Infinity Fabric ports of a GCD to others: even ones 4 + 2 + 1, odd ones 4 + 1 + 1 (they also hold the
  // NIC).
  for (int gcd = 0; gcd < 8; ++gcd) EXPECT_EQ(node_links_from(m, gcd) / 50e9, gcd % 2 == 0 ? 7 : 6);
  std::vector<LinkIndex> links;
  m.route(0, 6, 0, links);
  EXPECT_EQ(links.size(), 1u);
  links.clear();
  m.route(0, 7, 0, links);  // no cable: over 6 (2 and 4 links), not 1
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(m.link(links[0]).capacity, 100_GBps);
}

// SuperPOD of 16 scalable units: 128 leaves, 128 spines, as many cables at each level as NICs; any number of nodes.
TEST(DgxH100, IsARailOptimisedFullFatTree) {
  const Machine m = load_machine("dgx-h100", "test", 512);

  EXPECT_EQ(m.devices(), 4096);
  EXPECT_EQ(node_links_from(m, 0), 18 * 25e9);
  EXPECT_EQ(cables_per_class(*m.network),
            (std::map<LinkClass, std::int64_t>{
                {LinkClass::nic, 4096}, {LinkClass::leaf, 128 * 8 * 4}, {LinkClass::global, 128 * 32}}));
  for (int node : {0, 31, 100})
    for (int nic = 0; nic < 8; ++nic) EXPECT_EQ(m.network->switch_of(node * 8 + nic), node / 32 * 8 + nic);
  std::map<int, int> ports_at;
  for (auto& [vertex, of] : ports(*m.network))
    if (vertex >= m.network->endpoints())
      ++ports_at[of[LinkClass::nic] + of[LinkClass::leaf] + of[LinkClass::global]];
  EXPECT_EQ(ports_at, (std::map<int, int>{{64, 128 + 128}, {16, 256}}));  // leaves and spines are full
  EXPECT_EQ(leaving_group(*m.network), 256 * 50e9);                       // what a unit's 256 NICs can send
}

TEST(Clusters, TakeAnyNumberOfNodes) {
  for (const char* name : {"dgx-v100", "dgx-a100", "dgx-h100"})
    for (const int nodes : {1, 2, 19, 33, 129, 512}) {
      const Machine m = load_machine(name, "test", nodes);

      EXPECT_EQ(m.devices(), nodes * 8) << name;
      std::vector<LinkIndex> links;
      m.route(0, m.devices() - 1, 1, links);
      EXPECT_EQ(m.link(links.front()).link_class,
                nodes > 1 ? LinkClass::nic : m.node_fabric->links()[0].link_class);
    }
  EXPECT_THROW(load_machine("dgx-h100", "test", 64 * 32 + 1), UserError);  // a core has 64 ports
}

// Six NVLinks of 25 GB/s per GPU, in pairs of one or two.
TEST(DgxV100, IsAHybridCubeMesh) {
  const Machine& m = machine("dgx-v100");
  std::map<double, int> cables;
  for (std::size_t i = 0; i < m.node_fabric->links().size(); i += 2)
    ++cables[m.node_fabric->links()[i].capacity.value / 25e9];

  for (int gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(node_links_from(m, gpu), 6 * 25e9) << gpu;
  EXPECT_EQ(cables, (std::map<double, int>{{1, 8}, {2, 8}}));
  EXPECT_EQ(m.nics_per_node, 4);
  for (auto& [vertex, of] : ports(*m.network))
    if (vertex >= m.network->endpoints()) {
      EXPECT_LE(of[LinkClass::nic] + of[LinkClass::leaf] + of[LinkClass::global], 36);
    }
}

TEST(Lassen, JoinsItsSocketsByTheXBus) {
  const Machine& m = machine("lassen");
  std::vector<LinkIndex> links;

  EXPECT_EQ(m.devices(), 792 * 4);
  for (int gpu = 0; gpu < 4; ++gpu) EXPECT_EQ(node_links_from(m, gpu), 6 * 25e9);  // six NVLinks
  m.route(0, 1, 0, links);
  EXPECT_EQ(links.size(), 1u);
  links.clear();
  m.route(0, 3, 0, links);
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(m.link(links[1]).capacity, 64_GBps);
  for (auto& [vertex, of] : ports(*m.network))
    if (vertex >= m.network->endpoints()) {
      const int down = of[LinkClass::nic], up = of[LinkClass::leaf];
      EXPECT_LE(down + up + of[LinkClass::global], 36);
      if (down > 0) {
        EXPECT_EQ(18.0 / up, 1.5);
      }
    }
}

// 96 Aries of 40 ports: 15 + 15 in the group, 10 optical.
TEST(PizDaint, FillsItsAriesPorts) {
  const Machine& m = machine("piz-daint");

  EXPECT_EQ(m.devices(), 5704);
  EXPECT_EQ(m.topology, "dragonfly, 15 groups");
  EXPECT_EQ(
      cables_per_class(*m.network),
      (std::map<LinkClass, std::int64_t>{{LinkClass::nic, 5704},
                                         {LinkClass::group, 15 * (6 * (16 * 15 / 2) + 16 * (6 * 5 / 2) * 3)},
                                         {LinkClass::global, 15 * 14 / 2 * 50}}));
  for (auto& [vertex, of] : ports(*m.network)) {
    if (vertex < m.network->endpoints()) continue;
    EXPECT_LE(of[LinkClass::nic], 4);
    EXPECT_EQ(of[LinkClass::group], 15 + 15);
    EXPECT_LE(of[LinkClass::global], 10);
  }
}

TEST(Perlmutter, HasThePublishedStructure) {
  const Machine& m = machine("perlmutter");

  EXPECT_EQ(m.devices(), 1792 * 4);
  EXPECT_EQ(m.topology, "dragonfly, 14 groups");
  EXPECT_EQ(cables_per_class(*m.network),
            (std::map<LinkClass, std::int64_t>{{LinkClass::nic, 1792 * 4},
                                               {LinkClass::group, 14 * 32 * 31 / 2},
                                               {LinkClass::global, 14 * 13 / 2 * 21}}));
  EXPECT_EQ(node_links_from(m, 0), 12 * 25e9);
  EXPECT_EQ(m.network->group_of(127 * 4 + 3), 0);  // a cabinet of 128 nodes
  EXPECT_EQ(m.network->group_of(128 * 4), 1);
  for (auto& [vertex, of] : ports(*m.network)) {
    if (vertex < m.network->endpoints()) continue;
    EXPECT_EQ(of[LinkClass::nic] + of[LinkClass::group], 16 + 31);
    EXPECT_LE(of[LinkClass::global], 17);
  }
}

// NIC to NIC through two Slingshot switches of one group: 2 × 0.35 us; the NICs are in the library's network step.
TEST(Alps, AddsPublishedLatencies) {
  const Machine& m = machine("alps");
  std::vector<LinkIndex> links;
  m.network->route(0, 8 * 4, 0, links);  // 8 nodes share a switch

  double latency = 0;
  for (const LinkIndex link : links) latency += m.network->links()[std::size_t(link)].latency.value;

  EXPECT_EQ(links.size(), 3u);
  EXPECT_NEAR(latency, 0.7e-6, 1e-12);
}

}  // namespace
}  // namespace dlnb
