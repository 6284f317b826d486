// SPDX-License-Identifier: Apache-2.0
// Arithmetic of the single topologies on small worlds.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "machines.hpp"

namespace dlnb {
namespace {

using namespace literals;
using test::build;
using test::route;

double latency_of(const Fabric& fabric, const std::vector<LinkIndex>& links) {
  double sum = 0;
  for (const LinkIndex link : links) sum += fabric.links()[std::size_t(link)].latency.value;
  return sum;
}

std::map<LinkClass, std::int64_t> links_per_class(const Fabric& fabric) {
  std::map<LinkClass, std::int64_t> count;
  for (const Link& link : fabric.links()) ++count[link.link_class];
  return count;
}

TEST(Switch, HasAnUpAndADownLinkPerEndpointAndPlane) {
  const auto fabric = build("switch", "capacity = '25 GB/s'\nplanes = 3\nport = 'nic'", 4);

  EXPECT_EQ(links_per_class(*fabric), (std::map<LinkClass, std::int64_t>{{LinkClass::nic, 4 * 3 * 2}}));
}

// One switch is passed: sending 1 us + switch 0.2 us + receiving 1 us.
TEST(Switch, TakesTheLatencyOfBothEndsAndOneSwitch) {
  const auto fabric =
      build("switch", "capacity = '1 GB/s'\nendpoint_latency = '1 us'\nswitch_latency = '200 ns'", 2);

  EXPECT_NEAR(latency_of(*fabric, route(*fabric, 0, 1)), 2.2e-6, 1e-15);
}

TEST(Switch, SpreadsFlowsOverPlanesEvenly) {
  const auto fabric = build("switch", "capacity = '25 GB/s'\nplanes = 4", 2);
  std::map<LinkIndex, int> first;

  for (std::uint64_t flow = 0; flow < 4000; ++flow) ++first[route(*fabric, 0, 1, flow)[0]];

  ASSERT_EQ(first.size(), 4u);
  for (const auto& [link, count] : first) EXPECT_NEAR(count, 1000, 5 * 28);  // σ = √(4000 · 1/4 · 3/4)
}

TEST(Mesh, TakesTheWiderOfTwoShortestWays) {
  // 0 → 3 over 1 (narrowest 1 link) or over 2 (narrowest 2 links).
  const auto fabric = build("mesh", "capacity = '50 GB/s'\nlinks = ['0-1 x4', '1-3', '0-2 x2', '2-3 x2']", 4);

  const std::vector<LinkIndex> links = route(*fabric, 0, 3);

  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(test::wiring_of(*fabric).ends(links[0]).to, 2);
  EXPECT_EQ(fabric->links()[std::size_t(links[0])].capacity, 100_GBps);
}

TEST(Mesh, PrefersADirectLinkToAWiderDetour) {
  const auto fabric = build("mesh", "capacity = '50 GB/s'\nlinks = ['0-1', '0-2 x4', '2-1 x4']", 3);

  EXPECT_EQ(route(*fabric, 0, 1), (std::vector<LinkIndex>{0}));
}

TEST(FatTree, CountsItsCables) {
  // 12 endpoints; 6 leaves × 2 spines each; 6 spines × 3 cores above each.
  const auto fabric =
      build("fat_tree",
            "pods = 3\nleaves = 2\nspines = 2\nports = 2\ncore_links = 3\nendpoint_capacity = '1 GB/s'\n"
            "leaf_capacity = '1 GB/s'\ncore_capacity = '1 GB/s'",
            12);

  EXPECT_EQ(links_per_class(*fabric),
            (std::map<LinkClass, std::int64_t>{
                {LinkClass::nic, 2 * 12}, {LinkClass::leaf, 2 * 6 * 2}, {LinkClass::global, 2 * 6 * 3}}));
}

TEST(FatTree, GivesRailsTheirLeaves) {
  // 4 nodes of 4 NICs on 4 leaves of 4 ports, rail-optimised: NIC i of every node on leaf i.
  const auto fabric = build("fat_tree",
                            "leaves = 4\nspines = 2\nports = 4\nnode_ports = 4\nnode_switches = 4\n"
                            "endpoint_capacity = '1 GB/s'\nleaf_capacity = '1 GB/s'",
                            16);

  for (int node = 0; node < 4; ++node)
    for (int nic = 0; nic < 4; ++nic) EXPECT_EQ(fabric->switch_of(node * 4 + nic), nic);
}

// Endpoint, three switches, endpoint: 1 + 3 × 0.1 + 1 us between pods five switches.
TEST(FatTree, AddsTheLatencyOfEverySwitch) {
  const auto fabric =
      build("fat_tree",
            "pods = 2\nleaves = 2\nspines = 1\nports = 1\ncore_links = 1\nendpoint_capacity = '1 GB/s'\n"
            "leaf_capacity = '1 GB/s'\ncore_capacity = '1 GB/s'\nendpoint_latency = '1 us'\n"
            "switch_latency = '100 ns'",
            4);

  EXPECT_NEAR(latency_of(*fabric, route(*fabric, 0, 1)), 2.3e-6, 1e-15);
  EXPECT_NEAR(latency_of(*fabric, route(*fabric, 0, 3)), 2.5e-6, 1e-15);
}

constexpr const char* two_groups =
    "groups = 2\nswitches = 4\nports = 1\nglobal_links = 4\nendpoint_capacity = '1 GB/s'\nlocal_capacity = "
    "'1 GB/s'\n"
    "global_capacity = '1 GB/s'\n";

TEST(Dragonfly, GoesStraightWhereItsSwitchHasTheCable) {
  // Cable k joins switch k of both groups: from endpoint 2 to 4 + 2 over it alone, to 4 + 1 with one local
  // hop.
  const auto fabric = build("dragonfly", two_groups, 8);

  EXPECT_EQ(route(*fabric, 2, 6).size(), 3u);
  EXPECT_EQ(route(*fabric, 2, 5).size(), 4u);
}

TEST(Dragonfly, UsesAllParallelCablesWhenTold) {
  const auto fabric = build("dragonfly", std::string(two_groups) + "global_paths = 'parallel'", 8);
  std::map<LinkIndex, int> cables;

  for (std::uint64_t flow = 0; flow < 4000; ++flow)
    for (const LinkIndex link : route(*fabric, 2, 6, flow))
      if (fabric->links()[std::size_t(link)].link_class == LinkClass::global) ++cables[link];

  ASSERT_EQ(cables.size(), 4u);
  for (const auto& [link, count] : cables) EXPECT_NEAR(count, 1000, 5 * 28);
}

TEST(Dragonfly, DealsGlobalCablesEvenlyToSwitches) {
  // 4 other groups × 3 cables over 5 switches: 12 = 2 + 2 + 2 + 3 + 3.
  const auto fabric =
      build("dragonfly",
            "groups = 5\nswitches = 5\nports = 1\nglobal_links = 3\nendpoint_capacity = '1 GB/s'\n"
            "local_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'",
            25);
  const Wiring& wiring = test::wiring_of(*fabric);
  std::map<int, int> leaving;

  for (LinkIndex link = 0; link < LinkIndex(fabric->links().size()); ++link)
    if (fabric->links()[std::size_t(link)].link_class == LinkClass::global) ++leaving[wiring.ends(link).from];

  ASSERT_EQ(leaving.size(), 25u);
  for (const auto& [switch_, count] : leaving) EXPECT_TRUE(count == 2 || count == 3);
}

TEST(Dragonfly, SpreadsANodeOverTwoSwitches) {
  // 31 switches × 16 ports, 124 nodes of 4: the first halves take 124 × 2 = 248 = 15.5 × 16 ports.
  const auto fabric =
      build("dragonfly",
            "groups = 1\nswitches = 31\nports = 16\nnode_ports = 4\nnode_switches = 2\n"
            "endpoint_capacity = '1 GB/s'\nlocal_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'",
            496);
  std::map<int, int> on_switch;

  for (int e = 0; e < 496; ++e) ++on_switch[fabric->switch_of(e)];

  ASSERT_EQ(on_switch.size(), 31u);
  for (const auto& [switch_, count] : on_switch) EXPECT_EQ(count, 16);
  for (int node = 0; node < 124; ++node) {
    EXPECT_EQ(fabric->switch_of(4 * node), fabric->switch_of(4 * node + 1));
    EXPECT_EQ(fabric->switch_of(4 * node + 2), fabric->switch_of(4 * node + 3));
    EXPECT_NE(fabric->switch_of(4 * node), fabric->switch_of(4 * node + 2));
  }
}

// Aries: 3 columns × 2 rows; 2 × 3 pairs along rows, 3 × 1 across, two cables each.
constexpr const char* grid_groups =
    "groups = 3\nswitches = 6\nrows = 2\nlocal_links = 1\ncolumn_links = 2\nports = 1\nglobal_links = 4\n"
    "global_paths = 'parallel'\nendpoint_capacity = '1 GB/s'\nlocal_capacity = '1 GB/s'\ncolumn_capacity = "
    "'3 GB/s'\n"
    "global_capacity = '1 GB/s'\n";

TEST(Dragonfly, JoinsRowsAndColumns) {
  const auto fabric = build("dragonfly", grid_groups, 18);
  std::map<double, int> group_cables;
  for (std::size_t link = 0; link < fabric->links().size(); link += 2)
    if (fabric->links()[link].link_class == LinkClass::group)
      ++group_cables[fabric->links()[link].capacity.value / 1e9];

  EXPECT_EQ(group_cables, (std::map<double, int>{{1, 3 * 2 * 3}, {3, 3 * 3 * 1 * 2}}));
  EXPECT_EQ(route(*fabric, 0, 2).size(), 2u + 1);  // along the row
  EXPECT_EQ(route(*fabric, 0, 3).size(), 2u + 1);  // across
  EXPECT_EQ(route(*fabric, 0, 5).size(), 2u + 2);  // over a corner
}

TEST(Dragonfly, CrossesGroupsOfRowsAndColumns) {
  const auto fabric = build("dragonfly", grid_groups, 18);
  const Wiring& wiring = test::wiring_of(*fabric);

  for (int from = 0; from < 6; ++from)
    for (int to = 6; to < 18; ++to)
      for (std::uint64_t flow = 0; flow < 50; ++flow) {
        int at = from, globals = 0;
        for (const LinkIndex link : route(*fabric, from, to, flow)) {
          ASSERT_EQ(wiring.ends(link).from, at);
          at = wiring.ends(link).to;
          globals += fabric->links()[std::size_t(link)].link_class == LinkClass::global ? 1 : 0;
        }
        EXPECT_EQ(at, to);
        EXPECT_EQ(globals, 1);
      }
}

TEST(Dragonfly, DetoursOverAThirdSwitchOrGroup) {
  const auto fabric =
      build("dragonfly",
            "groups = 3\nswitches = 4\nports = 1\nglobal_links = 2\nendpoint_capacity = '1 GB/s'\n"
            "local_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'",
            12);
  const auto globals = [&](int from, int to, std::uint64_t choice) {
    std::vector<LinkIndex> links;
    fabric->detour(from, to, choice, links);
    return std::count_if(links.begin(), links.end(), [&](LinkIndex link) {
      return fabric->links()[std::size_t(link)].link_class == LinkClass::global;
    });
  };

  for (std::uint64_t choice = 0; choice < 20; ++choice) {
    EXPECT_EQ(globals(0, 5, choice), 2);  // group 0, the third, group 1
    std::vector<LinkIndex> inside;
    fabric->detour(0, 1, choice, inside);
    EXPECT_EQ(inside.size(), 2u + 2);
  }
}

TEST(Torus, GoesTheShorterWayInAnyOrderOfDimensions) {
  // From (0,0) to (4,2) of 5 × 5: one cable backwards, two upwards.
  const auto fabric = build("torus", "shape = '5x5'\nendpoint_capacity = '1 GB/s'\ncapacity = '1 GB/s'", 25);

  EXPECT_EQ(links_per_class(*fabric),
            (std::map<LinkClass, std::int64_t>{{LinkClass::nic, 2 * 25}, {LinkClass::group, 2 * 2 * 25}}));
  EXPECT_EQ(fabric->minimal_routes(0, 14), 2);
  EXPECT_EQ(route(*fabric, 0, 14).size(), 2u + 3);
}

TEST(Torus, HasBothWaysRoundWhereTheyAreEquallyLong) {
  const auto fabric = build("torus", "shape = '4x2'\nendpoint_capacity = '1 GB/s'\ncapacity = '1 GB/s'", 8);

  EXPECT_EQ(fabric->minimal_routes(0, 2), 2);                          // two cables up, or two down
  EXPECT_EQ(fabric->minimal_routes(0, 6), 2 * 2);                      // and the other row before or after
  EXPECT_EQ(links_per_class(*fabric)[LinkClass::group], 2 * (8 + 4));  // rings of two have one cable
}

TEST(DragonflyPlus, CountsItsCables) {
  // 3 groups: 3 × 2 leaves × 2 spines × 2 copies, 3 pairs of groups × 4.
  const auto fabric =
      build("dragonfly_plus",
            "groups = 3\nleaves = 2\nspines = 2\nports = 2\nleaf_links = 2\nglobal_links = 4\n"
            "endpoint_capacity = '1 GB/s'\nleaf_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'",
            12);

  EXPECT_EQ(links_per_class(*fabric), (std::map<LinkClass, std::int64_t>{{LinkClass::nic, 2 * 12},
                                                                         {LinkClass::leaf, 2 * 3 * 2 * 2 * 2},
                                                                         {LinkClass::global, 2 * 3 * 4}}));
}

// leaf, spine, spine, leaf: 1 + 4 × 0.1 + 0.5 (the long cable) + 1 us.
TEST(DragonflyPlus, AddsTheLatencyOfTheLongCable) {
  const auto fabric =
      build("dragonfly_plus",
            "groups = 2\nleaves = 1\nspines = 1\nports = 1\nendpoint_capacity = '1 GB/s'\n"
            "leaf_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'\nendpoint_latency = '1 us'\n"
            "switch_latency = '100 ns'\nglobal_latency = '500 ns'",
            2);

  EXPECT_NEAR(latency_of(*fabric, route(*fabric, 0, 1)), 2.9e-6, 1e-15);
}

}  // namespace
}  // namespace dlnb
