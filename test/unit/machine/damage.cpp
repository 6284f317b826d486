// SPDX-License-Identifier: Apache-2.0
// Degraded and failed cables.
#include "machine/damage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "machines.hpp"

namespace dlnb {
namespace {

using test::build;
using test::route;

const std::string dragonfly =
    "groups = 3\nswitches = 4\nports = 2\nglobal_links = 4\nendpoint_capacity = '10 GB/s'\n"
    "local_capacity = '10 GB/s'\nglobal_capacity = '10 GB/s'\nglobal_paths = 'parallel'\n";

// Nodes of two NICs: 12 on 3 groups of 4 switches.
std::shared_ptr<const Fabric> damaged(const std::string& tables) {
  const Value file = parse_toml(tables, "m.toml");
  return damage(build("dragonfly", dragonfly, 24), *file.find("degraded"), 2);
}

std::map<LinkClass, std::map<double, int>> cables(const Fabric& fabric) {
  std::map<LinkClass, std::map<double, int>> count;
  for (std::size_t i = 0; i < fabric.links().size(); i += 2)
    ++count[fabric.links()[i].link_class][fabric.links()[i].capacity.value / 1e9];
  return count;
}

TEST(Degraded, LeavesAFactorOfTheCapacityInBothDirections) {
  const auto fabric = damaged("[[degraded]]\nlinks = 'global'\nfactor = 0.5\n");

  EXPECT_EQ(cables(*fabric), (std::map<LinkClass, std::map<double, int>>{{LinkClass::nic, {{10, 24}}},
                                                                         {LinkClass::group, {{10, 3 * 6}}},
                                                                         {LinkClass::global, {{5, 12}}}}));
  for (std::size_t i = 0; i < fabric->links().size(); i += 2)
    EXPECT_EQ(fabric->links()[i].capacity, fabric->links()[i + 1].capacity);
}

TEST(Degraded, ChoosesByNodeGroupSwitchAndNumber) {
  EXPECT_EQ(cables(*damaged("[[degraded]]\nlinks = 'nic'\nnode = 3\nfactor = 0.5\n"))[LinkClass::nic],
            (std::map<double, int>{{5, 2}, {10, 22}}));
  EXPECT_EQ(cables(*damaged("[[degraded]]\nlinks = 'nic'\nnic = 1\nfactor = 0.5\n"))[LinkClass::nic],
            (std::map<double, int>{{5, 12}, {10, 12}}));
  EXPECT_EQ(cables(*damaged("[[degraded]]\nlinks = 'group'\ngroup = 1\nfactor = 0.5\n"))[LinkClass::group],
            (std::map<double, int>{{5, 6}, {10, 12}}));
  EXPECT_EQ(cables(*damaged("[[degraded]]\nlinks = 'global'\ngroup = 1\nfactor = 0.5\n"))[LinkClass::global],
            (std::map<double, int>{{5, 8}, {10, 4}}));
  EXPECT_EQ(
      cables(*damaged(
          "[[degraded]]\nlinks = 'global'\ngroup = 1\nother_group = 0\nfactor = 0.5\n"))[LinkClass::global],
      (std::map<double, int>{{5, 4}, {10, 8}}));
  EXPECT_EQ(
      cables(*damaged(
          "[[degraded]]\nlinks = 'group'\nswitch = 5\nother_switch = 7\nfactor = 0.5\n"))[LinkClass::group],
      (std::map<double, int>{{5, 1}, {10, 17}}));
  EXPECT_EQ(cables(*damaged(
                "[[degraded]]\nlinks = 'global'\ncables = '0-2,11'\nfactor = 0.5\n"))[LinkClass::global],
            (std::map<double, int>{{5, 4}, {10, 8}}));
  EXPECT_EQ(
      cables(*damaged("[[degraded]]\nlinks = 'nic'\nshare = 0.25\nseed = 3\nfactor = 0.5\n"))[LinkClass::nic],
      (std::map<double, int>{{5, 6}, {10, 18}}));
}

TEST(Degraded, AddsUp) {
  EXPECT_EQ(
      cables(*damaged("[[degraded]]\nlinks = 'global'\nfactor = 0.5\n"
                      "[[degraded]]\nlinks = 'global'\ncables = '0'\nfactor = 0.5\n"))[LinkClass::global],
      (std::map<double, int>{{2.5, 1}, {5, 11}}));
}

std::set<LinkIndex> used_links(const Fabric& fabric) {
  std::set<LinkIndex> used;
  for (int from = 0; from < fabric.endpoints(); ++from)
    for (int to = 0; to < fabric.endpoints(); ++to)
      for (std::uint64_t flow = 0; flow < 20; ++flow) {
        for (const LinkIndex link : route(fabric, from, to, flow)) used.insert(link);
        std::vector<LinkIndex> links;
        fabric.detour(from, to, flow, links);
        used.insert(links.begin(), links.end());
      }
  return used;
}

void expect_ways(const Fabric& fabric, const Wiring& wiring) {
  for (int from = 0; from < fabric.endpoints(); ++from)
    for (int to = 0; to < fabric.endpoints(); ++to)
      for (std::uint64_t flow = 0; flow < 5; ++flow) {
        int at = from;
        for (const LinkIndex link : route(fabric, from, to, flow)) {
          ASSERT_EQ(wiring.ends(link).from, at);
          at = wiring.ends(link).to;
        }
        ASSERT_EQ(at, to);
      }
}

TEST(Failed, IsAvoided) {
  const auto whole = build("dragonfly", dragonfly, 24);
  const auto fabric = damaged("[[degraded]]\nlinks = 'global'\ncables = '1'\nfailed = true\n");
  const LinkIndex dead = 2 * (24 + 3 * 6 + 1);  // after the NICs' and the groups' cables

  EXPECT_TRUE(used_links(*whole).count(dead));
  const std::set<LinkIndex> used = used_links(*fabric);

  EXPECT_FALSE(used.count(dead));
  EXPECT_FALSE(used.count(dead + 1));
  EXPECT_EQ(used.size(), whole->links().size() - 2);
  expect_ways(*fabric, test::wiring_of(*whole));
}

// Without any cable between groups 0 and 1 the way leads over group 2.
TEST(Failed, TakesADetourWhereNoMinimalRouteIsLeft) {
  const auto whole = build("dragonfly", dragonfly, 24);
  const auto fabric = damaged("[[degraded]]\nlinks = 'global'\ngroup = 0\nother_group = 1\nfailed = true\n");
  int globals = 0;
  for (const LinkIndex link : route(*fabric, 0, 9))
    globals += whole->links()[std::size_t(link)].link_class == LinkClass::global ? 1 : 0;

  EXPECT_EQ(globals, 2);
  expect_ways(*fabric, test::wiring_of(*whole));
}

// Switches 0 and 1 keep only their cables to 2 and 3 and those to other groups; a fat tree has no detours at all.
TEST(Failed, SearchesForAWayWhereTheTopologyKnowsNone) {
  const std::string table =
      "leaves = 3\nspines = 2\nports = 1\nendpoint_capacity = '1 GB/s'\nleaf_capacity = '1 GB/s'\n";
  const auto whole = build("fat_tree", table, 3);
  // Leaf 0 keeps spine 0, leaf 1 spine 1: the way leads over leaf 2. Cables: leaf · 2 + spine.
  const Value file = parse_toml("[[degraded]]\nlinks = 'leaf'\ncables = '1,2'\nfailed = true\n", "m.toml");
  const auto fabric = damage(whole, *file.find("degraded"), 1);

  EXPECT_EQ(route(*fabric, 0, 1).size(), 2u + 4);
  EXPECT_EQ(route(*fabric, 0, 2).size(), 2u + 2);
  expect_ways(*fabric, test::wiring_of(*whole));
}

}  // namespace
}  // namespace dlnb
