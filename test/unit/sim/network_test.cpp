// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "executor/sim/flows.hpp"
#include "world.hpp"

namespace dlnb {
namespace {

/// A system that owns its numbers.
struct Links {
  std::vector<double> capacity;
  std::vector<std::int32_t> first{0};
  std::vector<Use> uses;
  std::vector<double> limit;

  void add(std::vector<Use> activity, double limit_of_it = 1e9) {
    uses.insert(uses.end(), activity.begin(), activity.end());
    first.push_back(std::int32_t(uses.size()));
    limit.push_back(limit_of_it);
  }
  System system() const { return {first, uses, capacity, limit}; }
};

std::vector<double> rates_of(const Links& links, const Network& network) {
  std::vector<double> rates(links.limit.size());
  network.solve(links.system(), rates);
  return rates;
}
std::vector<double> rates_of(const Links& links, const char* network = "max_min_plain") {
  return rates_of(links, entry_called(networks::all(), network, "test"));
}

TEST(MaxMinPlain, SharesOneLinkEquallyAndGivesTheRestToWhoCanUseIt) {
  Links links{.capacity = {10, 2}};
  links.add({{0, 1}});
  links.add({{0, 1}, {1, 1}});

  EXPECT_EQ(rates_of(links), (std::vector<double>{10 - 2, 2}));
}

TEST(MaxMinPlain, CountsAWeightAsThatManyFlows) {
  Links links{.capacity = {12}};
  links.add({{0, 1}});
  links.add({{0, 2}});

  EXPECT_EQ(rates_of(links), (std::vector<double>{12.0 / 3, 12.0 / 3}));
}

TEST(MaxMinPlain, KeepsToLimits) {
  Links links{.capacity = {9}};
  links.add({{0, 1}}, 1);
  links.add({{0, 1}});
  links.add({{0, 1}});

  EXPECT_EQ(rates_of(links), (std::vector<double>{1, (9.0 - 1) / 2, (9.0 - 1) / 2}));
}

TEST(MaxMinPlain, SolvesTheParkingLot) {
  // One long activity over three links, a short one on each: thirds of nothing, halves everywhere but on the
  // wide one.
  Links links{.capacity = {6, 2, 10}};
  links.add({{0, 1}, {1, 1}, {2, 1}});
  for (int l = 0; l < 3; ++l) links.add({{l, 1}});

  EXPECT_EQ(rates_of(links), (std::vector<double>{1, 6 - 1, 1, 10 - 1}));
}

TEST(FairBottleneck, GivesTwoFlowsTogetherWhatItGivesOne) {
  Links links{.capacity = {12}};
  links.add({{0, 1}});
  links.add({{0, 2}});

  EXPECT_EQ(rates_of(links, "fair_bottleneck"), (std::vector<double>{6, 3}));
}

TEST(FairBottleneck, KeepsToLimits) {
  Links links{.capacity = {9}};
  links.add({{0, 1}}, 1);
  links.add({{0, 1}});
  links.add({{0, 1}});

  EXPECT_EQ(rates_of(links, "fair_bottleneck"), (std::vector<double>{1, 4, 4}));
}

TEST(FairBottleneck, TakesAgainWhatTheOnesThatStayTookLast) {
  // Round 1 gives 4, 2, 4, 4 of the shared 16, and the first two stay. Round 2 gives 1 and ½ of the 2 that are left; the
  // last ½ goes with what the first two take again.
  Links links{.capacity = {16, 4, 2, 4.5}};
  links.add({{0, 1}, {1, 1}});
  links.add({{0, 1}, {2, 1}});
  links.add({{0, 1}});
  links.add({{0, 1}, {3, 1}});

  EXPECT_EQ(rates_of(links, "fair_bottleneck"), (std::vector<double>{4, 2, 5, 4.5}));
}

class RandomSystem : public testing::TestWithParam<unsigned> {
 protected:
  std::mt19937 random{GetParam()};

  int up_to(int most) { return int(random() % unsigned(most)); }
  Links draw() {
    Links links;
    for (int l = 0; l < 12; ++l) links.capacity.push_back(1 + up_to(20));
    for (int a = 0; a < 30; ++a) {
      std::vector<Use> uses;
      for (int l = 0; l < 12; ++l)
        if (up_to(4) == 0) uses.push_back({l, 0.25 * (1 + up_to(8))});
      if (uses.empty()) uses.push_back({up_to(12), 1});
      double alone = 1e9;
      for (const Use& use : uses) alone = std::min(alone, links.capacity[std::size_t(use.link)] / use.weight);
      links.add(uses, alone);
    }
    return links;
  }
};

// What defines max–min fairness: feasible, and every activity is at its limit or crosses a full link on which
// nobody is faster (Bertsekas & Gallager, section 6.5.2).
bool is_max_min(const Network& network) { return !network.every_link; }

TEST_P(RandomSystem, IsFairInEveryNetwork) {
  const Links links = draw();
  const System system = links.system();

  for (const Network* network : networks::all()) {
    const std::vector<double> rates = rates_of(links, *network);

    std::vector<double> load(links.capacity.size()), fastest(links.capacity.size());
    for (std::size_t a = 0; a < rates.size(); ++a)
      for (const Use& use : system.uses_of(a)) {
        load[std::size_t(use.link)] += use.weight * rates[a];
        fastest[std::size_t(use.link)] = std::max(fastest[std::size_t(use.link)], rates[a]);
      }
    for (std::size_t l = 0; l < load.size(); ++l) EXPECT_LE(load[l], links.capacity[l] * (1 + 1e-9));
    for (std::size_t a = 0; a < rates.size(); ++a) {
      EXPECT_GT(rates[a], 0);
      EXPECT_LE(rates[a], links.limit[a] * (1 + 1e-9));
      if (!is_max_min(*network)) continue;
      const bool bottleneck = std::ranges::any_of(system.uses_of(a), [&](const Use& use) {
        const std::size_t l = std::size_t(use.link);
        return load[l] >= links.capacity[l] * (1 - 1e-9) && rates[a] >= fastest[l] * (1 - 1e-9);
      });
      EXPECT_TRUE(bottleneck || rates[a] >= links.limit[a] * (1 - 1e-9))
          << network->name << " activity " << a;
    }
  }
}

TEST_P(RandomSystem, IsTheSameInEveryMaxMinNetwork) {
  for (int system = 0; system < 500; ++system) {
    const Links links = draw();
    const std::vector<double> expected = rates_of(links);
    for (const Network* network : networks::all()) {
      if (!is_max_min(*network)) continue;
      const std::vector<double> rates = rates_of(links, *network);
      for (std::size_t a = 0; a < rates.size(); ++a)
        ASSERT_NEAR(rates[a], expected[a], 1e-9 * expected[a]) << network->name << " activity " << a;
    }
  }
}

TEST_P(RandomSystem, FlowsAgreeWithSolvingEverythingAtEveryChange) {
  const Links all = draw();
  Machine machine;
  machine.nodes = 0;
  struct Given : Fabric {
    std::vector<Link> list;
    int endpoints() const override { return 1; }
    std::span<const Link> links() const override { return list; }
    void route(int, int, std::uint64_t, std::vector<LinkIndex>&) const override {}
  };
  auto fabric = std::make_shared<Given>();
  for (const double capacity : all.capacity) fabric->list.push_back({{capacity}, {0}, LinkClass::node});
  machine.network = fabric;
  const sim::Capacities capacities(machine);
  std::vector<sim::Path> paths(all.limit.size());
  std::vector<std::int32_t> first_path{0};
  for (std::size_t a = 0; a < paths.size(); ++a) {
    const auto uses = all.system().uses_of(a);
    paths[a].uses.assign(uses.begin(), uses.end());
    paths[a].alone = capacities.alone(paths[a]);
    first_path.push_back(std::int32_t(a + 1));
  }
  for (const Network* network : networks::all()) {
    sim::Flows flows(capacities, *network, paths, first_path);
    std::vector<bool> runs(paths.size(), false);

    for (int change = 0; change < 200; ++change) {
      for (int both = 0; both <= up_to(3); ++both) {
        const std::size_t a = std::size_t(up_to(int(paths.size())));
        if (runs[a]) flows.finish(std::int32_t(a), change);
        else flows.begin(std::int32_t(a), std::int32_t(a), 1e12, change);
        runs[a] = !runs[a];
      }
      flows.settle(change);

      Links running{.capacity = all.capacity};
      for (std::size_t a = 0; a < paths.size(); ++a)
        if (runs[a]) running.add(paths[a].uses, paths[a].alone);
      const std::vector<double> expected =
          is_max_min(*network) ? rates_of(running) : rates_of(running, *network);
      std::size_t next = 0;
      for (std::size_t a = 0; a < paths.size(); ++a) {
        const double want = runs[a] ? expected[next++] : 0;
        ASSERT_NEAR(flows.rate(std::int32_t(a)), want, 1e-9 * want)
            << network->name << " change " << change << " activity " << a;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSystem, testing::Range(1u, 21u));

}  // namespace
}  // namespace dlnb
