// SPDX-License-Identifier: Apache-2.0
// What every topology must satisfy, over small instances of each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <random>
#include <set>

#include "machines.hpp"

namespace dlnb {
namespace {

using test::Instance;
using test::route;

class EveryTopology : public testing::TestWithParam<Instance> {
 protected:
  std::shared_ptr<const Fabric> fabric =
      test::build(GetParam().topology, GetParam().table, GetParam().endpoints);
  const Wiring& wiring = test::wiring_of(*fabric);
};

constexpr std::uint64_t flows = 5;

// Fewest links from one endpoint to every vertex. Minimal routing takes one detour through another group
// never, so at most one global link of a dragonfly (cores of a fat tree are not another group's switches: two
// of them are one step).
std::vector<int> fewest_links(const Wiring& wiring, const Instance& instance, int from) {
  const bool one_global = std::string(instance.topology).starts_with("dragonfly");
  const int vertices = wiring.vertices();
  std::vector<std::vector<LinkIndex>> leaving(static_cast<std::size_t>(vertices));
  for (LinkIndex link = 0; link < LinkIndex(wiring.links().size()); ++link)
    leaving[std::size_t(wiring.ends(link).from)].push_back(link);

  std::vector<int> hops(std::size_t(2 * vertices), -1);  // [after a global link][vertex]
  std::queue<int> next;
  hops[std::size_t(from)] = 0;
  next.push(from);
  while (!next.empty()) {
    const int state = next.front(), vertex = state % vertices;
    next.pop();
    const bool passes_through =
        vertex == from || vertex >= wiring.endpoints() || instance.topology == std::string("mesh");
    if (!passes_through) continue;
    for (const LinkIndex link : leaving[std::size_t(vertex)]) {
      const bool global = one_global && wiring.links()[std::size_t(link)].link_class == LinkClass::global;
      if (global && state >= vertices) continue;
      const int to = wiring.ends(link).to + (global || state >= vertices ? vertices : 0);
      if (hops[std::size_t(to)] >= 0) continue;
      hops[std::size_t(to)] = hops[std::size_t(state)] + 1;
      next.push(to);
    }
  }
  for (int v = 0; v < vertices; ++v) {
    const int after = hops[std::size_t(v + vertices)];
    int& before = hops[std::size_t(v)];
    if (before < 0 || (after >= 0 && after < before)) before = after;
  }
  hops.resize(std::size_t(vertices));
  return hops;
}

TEST_P(EveryTopology, LeadsFromAnEndpointToItselfOverNothing) {
  for (int e = 0; e < fabric->endpoints(); ++e) EXPECT_TRUE(route(*fabric, e, e, 3).empty());
}

TEST_P(EveryTopology, LeadsWhereItSaysOverConnectedLinks) {
  for (int from = 0; from < fabric->endpoints(); ++from)
    for (int to = 0; to < fabric->endpoints(); ++to)
      for (std::uint64_t flow = 0; flow < flows; ++flow) {
        int at = from;

        for (const LinkIndex link : route(*fabric, from, to, flow)) {
          ASSERT_GE(link, 0);
          ASSERT_LT(link, LinkIndex(fabric->links().size()));
          ASSERT_EQ(wiring.ends(link).from, at) << from << " to " << to << " flow " << flow;
          at = wiring.ends(link).to;
        }

        EXPECT_EQ(at, to);
      }
}

TEST_P(EveryTopology, TakesTheFewestLinks) {
  for (int from = 0; from < fabric->endpoints(); ++from) {
    const std::vector<int> fewest = fewest_links(wiring, GetParam(), from);
    for (int to = 0; to < fabric->endpoints(); ++to)
      for (std::uint64_t flow = 0; flow < flows; ++flow)
        EXPECT_EQ(int(route(*fabric, from, to, flow).size()), fewest[std::size_t(to)])
            << from << " to " << to;
  }
}

// Connected links without a repetition, from one vertex to another.
void expect_a_way(const Wiring& wiring, const std::vector<LinkIndex>& links, int from, int to) {
  int at = from;
  for (const LinkIndex link : links) {
    ASSERT_EQ(wiring.ends(link).from, at) << from << " to " << to;
    at = wiring.ends(link).to;
  }
  EXPECT_EQ(at, to);
  EXPECT_EQ(std::set<LinkIndex>(links.begin(), links.end()).size(), links.size()) << from << " to " << to;
}

TEST_P(EveryTopology, NumbersItsMinimalRoutesEvenly) {
  for (int from = 0; from < fabric->endpoints(); ++from) {
    const std::vector<int> fewest = fewest_links(wiring, GetParam(), from);
    for (int to = 0; to < fabric->endpoints(); ++to) {
      const std::int64_t count = fabric->minimal_routes(from, to);
      ASSERT_GE(count, 1);
      std::map<std::vector<LinkIndex>, int> times;
      for (std::int64_t choice = 0; choice < count; ++choice) {
        std::vector<LinkIndex> links;
        fabric->minimal_route(from, to, std::uint64_t(choice), links);
        expect_a_way(wiring, links, from, to);
        EXPECT_EQ(int(links.size()), fewest[std::size_t(to)]) << from << " to " << to;
        ++times[links];
      }

      for (const auto& [links, n] : times) EXPECT_EQ(n, times.begin()->second) << from << " to " << to;
      EXPECT_TRUE(times.count(route(*fabric, from, to, 11))) << from << " to " << to;
    }
  }
}

TEST_P(EveryTopology, LeadsThereOnDetoursToo) {
  for (int from = 0; from < fabric->endpoints(); ++from)
    for (int to = 0; to < fabric->endpoints(); ++to)
      for (std::uint64_t choice = 0; choice < 50; ++choice) {
        std::vector<LinkIndex> links;
        fabric->detour(from, to, spread(from, to, choice), links);
        if (links.empty()) continue;
        expect_a_way(wiring, links, from, to);
        EXPECT_GE(links.size(), route(*fabric, from, to).size());
      }
}

TEST_P(EveryTopology, GivesTheSameRouteForTheSameArguments) {
  for (int from = 0; from < fabric->endpoints(); ++from)
    for (int to = 0; to < fabric->endpoints(); ++to)
      EXPECT_EQ(route(*fabric, from, to, 7), route(*fabric, from, to, 7));
}

TEST_P(EveryTopology, IsAsFarBackAsForth) {
  for (int from = 0; from < fabric->endpoints(); ++from)
    for (int to = 0; to < from; ++to)
      EXPECT_EQ(route(*fabric, from, to, 1).size(), route(*fabric, to, from, 2).size())
          << from << " and " << to;
}

TEST_P(EveryTopology, AppendsAndKeepsWhatWasThere) {
  const int last = fabric->endpoints() - 1;
  std::vector<LinkIndex> links{42};

  fabric->route(0, last, 0, links);

  EXPECT_EQ(links.front(), 42);
  EXPECT_EQ(links.size(), 1 + route(*fabric, 0, last).size());
}

TEST_P(EveryTopology, UsesEveryLinkForSomething) {
  std::set<LinkIndex> used;

  for (int from = 0; from < fabric->endpoints(); ++from)
    for (int to = 0; to < fabric->endpoints(); ++to)
      for (std::uint64_t flow = 0; flow < 100; ++flow)
        for (const LinkIndex link : route(*fabric, from, to, flow)) used.insert(link);

  const std::size_t useful = fabric->endpoints() > 1 ? fabric->links().size() : 0;
  EXPECT_EQ(used.size(), useful);
}

TEST_P(EveryTopology, HasCablesOfTwoOppositeLinks) {
  for (LinkIndex link = 0; link < LinkIndex(fabric->links().size()); link += 2) {
    const Link &forth = fabric->links()[std::size_t(link)], &back = fabric->links()[std::size_t(link + 1)];

    EXPECT_EQ(wiring.ends(link).from, wiring.ends(link + 1).to);
    EXPECT_EQ(wiring.ends(link).to, wiring.ends(link + 1).from);
    EXPECT_EQ(forth.capacity, back.capacity);
    EXPECT_EQ(forth.link_class, back.link_class);
    EXPECT_GT(forth.capacity.value, 0);
  }
}

TEST_P(EveryTopology, AgreesWithItsRoutesOnSwitchesAndGroups) {
  for (int a = 0; a < fabric->endpoints(); ++a)
    for (int b = 0; b < a; ++b) {
      if (GetParam().topology == std::string("mesh")) continue;  // no switches
      const bool same_switch = fabric->switch_of(a) == fabric->switch_of(b);
      bool global = false;
      for (const LinkIndex link : route(*fabric, a, b))
        global |= fabric->links()[std::size_t(link)].link_class == LinkClass::global;

      EXPECT_EQ(route(*fabric, a, b).size() == 2, same_switch) << a << " and " << b;
      EXPECT_EQ(global, fabric->group_of(a) != fabric->group_of(b)) << a << " and " << b;
    }
}

INSTANTIATE_TEST_SUITE_P(Small, EveryTopology, testing::ValuesIn(test::instances),
                         [](const auto& test) { return std::string(test.param.name); });

// Shapes drawn at random, so that no arithmetic is right only for the friendly numbers above.
TEST(Topologies, AreMinimalInAnyShape) {
  std::mt19937 random{7};
  const auto one_of = [&](int low, int high) { return low + int(random() % std::uint32_t(high - low + 1)); };
  const std::string rates =
      "endpoint_capacity = '1 GB/s'\nglobal_capacity = '1 GB/s'\nglobal_links = {}\ngroups = {}\nports = "
      "{}\n";
  for (int shape = 0; shape < 40; ++shape) {
    const bool plus = shape % 2 == 1;
    const int groups = one_of(1, 6), switches = one_of(1, 5), ports = one_of(1, 3), cables = one_of(1, 12);
    const std::string table =
        fmt::format(fmt::runtime(rates), cables, groups, ports) +
        (plus ? fmt::format("leaves = {}\nspines = {}\nleaf_links = {}\nleaf_capacity = '1 GB/s'\n", switches,
                            one_of(1, 4), one_of(1, 2))
              : fmt::format("switches = {}\nlocal_links = {}\nlocal_capacity = '1 GB/s'\n", switches,
                            one_of(1, 2)));
    const Instance instance{"", plus ? "dragonfly_plus" : "dragonfly", table.c_str(),
                            groups * switches * ports};
    const auto fabric = test::build(instance.topology, table, instance.endpoints);
    const Wiring& wiring = test::wiring_of(*fabric);

    for (int from = 0; from < instance.endpoints; ++from) {
      const std::vector<int> fewest = fewest_links(wiring, instance, from);
      for (int to = 0; to < instance.endpoints; ++to) {
        const std::vector<LinkIndex> links = route(*fabric, from, to, std::uint64_t(shape));
        int at = from;
        for (const LinkIndex link : links) {
          ASSERT_EQ(wiring.ends(link).from, at) << instance.topology << "\n" << table;
          at = wiring.ends(link).to;
        }
        ASSERT_EQ(at, to) << instance.topology << "\n" << table;
        ASSERT_EQ(int(links.size()), fewest[std::size_t(to)]) << instance.topology << "\n" << table;
      }
    }
  }
}

TEST(Topologies, AllHaveASmallInstanceHere) {
  std::set<std::string> tested;
  for (const Instance& instance : test::instances) tested.insert(instance.topology);

  for (const Topology* topology : topologies::all()) EXPECT_TRUE(tested.count(std::string(topology->name)));
}

TEST(Topologies, DescribeTheirOptions) {
  for (const Topology* topology : topologies::all()) {
    EXPECT_FALSE(topology->summary.empty());
    EXPECT_FALSE(topology->options().empty());
    for (const OptionInfo& option : topology->options()) EXPECT_FALSE(option.help.empty()) << option.name;
  }
}

}  // namespace
}  // namespace dlnb
