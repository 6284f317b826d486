// SPDX-License-Identifier: Apache-2.0
// What the four routings make of flows between two switches with cables and ways round between them.
#include "executor/sim/routing.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "executor/sim/sim.hpp"
#include "world.hpp"

namespace dlnb {
namespace {

using namespace world;

/// Endpoints 0 … n-1 on one switch, n … 2n-1 on another; `cables` join the switches, and `ways` of two cables each lead
/// round over a switch of their own. Only from the first switch to the second.
class TwoSwitches : public Fabric {
 public:
  TwoSwitches(int n, int cables, int ways, double port, double cable, double latency = 0)
      : n_(n), cables_(cables), ways_(ways) {
    for (int e = 0; e < 2 * n; ++e) links_.push_back({{port}, {0}, LinkClass::nic});
    for (int c = 0; c < cables + 2 * ways; ++c) links_.push_back({{cable}, {latency}, LinkClass::group});
  }
  int endpoints() const override { return 2 * n_; }
  std::span<const Link> links() const override { return links_; }
  void route(int from, int to, std::uint64_t flow, std::vector<LinkIndex>& out) const override {
    minimal_route(from, to, flow * 7 + 3, out);
  }
  std::int64_t minimal_routes(int from, int to) const override { return from / n_ == to / n_ ? 1 : cables_; }
  void minimal_route(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    out.push_back(from);
    if (from / n_ != to / n_) out.push_back(cable(int(choice % std::uint64_t(cables_))));
    out.push_back(to);
  }
  void detour(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const override {
    if (ways_ == 0 || from / n_ == to / n_) return;
    const int first = cable(cables_ + 2 * int(choice % std::uint64_t(ways_)));
    out.insert(out.end(), {from, first, first + 1, to});
  }
  LinkIndex cable(int c) const { return 2 * n_ + c; }

 private:
  int n_, cables_, ways_;
  std::vector<Link> links_;
};

Machine machine_of(TwoSwitches fabric, Routing routing) {
  Machine machine;
  machine.nodes = fabric.endpoints();
  machine.nics_per_node = 1;
  machine.network = std::make_shared<TwoSwitches>(std::move(fabric));
  machine.routing = routing;
  return machine;
}

/// Every endpoint of the first switch sends a byte to its partner on the second.
Traffic across(int n) {
  Traffic traffic{{}, 1};
  for (int f = 0; f < n; ++f) traffic.flows.push_back({f, n + f, 1.0});
  return traffic;
}

std::vector<Member> everyone(const Machine& machine) {
  std::vector<Member> members;
  for (int d = 0; d < machine.devices(); ++d) members.push_back({d, d, 0});
  return members;
}

struct Led {
  std::map<LinkIndex, double> bytes;
  std::vector<double> latency;
};

Led lead(const Machine& machine, const Traffic& traffic, sim::Loads& beside) {
  sim::Router router(machine);
  std::vector<Use> uses;
  Led led;
  router.lead(traffic, everyone(machine), beside, uses, led.latency);
  for (const Use& use : uses) led.bytes[use.link] += use.weight;
  return led;
}
Led lead(const Machine& machine, const Traffic& traffic) {
  sim::Loads loads;
  return lead(machine, traffic, loads);
}

TEST(Routing, MinimalGoesByDestinationAlone) {
  const Machine machine = machine_of({4, 4, 0, 1, 1}, Routing::minimal);
  const Traffic to_one{{{0, 5, 1.0}, {1, 5, 1.0}, {2, 5, 1.0}}, 1};

  const Led led = lead(machine, to_one);

  EXPECT_EQ(led.bytes.at(8 + 5 % 4), 3);  // one cable for all
}

TEST(Routing, EcmpTakesOneRouteForAFlow) {
  const Machine machine = machine_of({4, 4, 0, 1, 1}, Routing::ecmp);

  const Led led = lead(machine, across(4));

  for (int c = 0; c < 4; ++c) {
    const double bytes = led.bytes.count(8 + c) ? led.bytes.at(8 + c) : 0;
    EXPECT_EQ(bytes, int(bytes)) << "whole flows";
  }
}

TEST(Routing, SprayIsEvenOverAllMinimalRoutes) {
  const Machine machine = machine_of({3, 5, 2, 1, 1}, Routing::spray);

  const Led led = lead(machine, across(3));

  for (int c = 0; c < 5; ++c) EXPECT_NEAR(led.bytes.at(6 + c), 3.0 / 5, 1e-12);
  for (int w = 0; w < 4; ++w) EXPECT_FALSE(led.bytes.count(6 + 5 + w)) << "detours";
  for (int e = 0; e < 6; ++e) EXPECT_NEAR(led.bytes.at(e), 1, 1e-12);
}

// More routes than parts: each carries one part or none, and they lie evenly.
TEST(Routing, SprayOverManyRoutesTakesSixtyFour) {
  const Machine machine = machine_of({1, 1000, 0, 1, 1}, Routing::spray);

  const Led led = lead(machine, across(1));

  EXPECT_EQ(led.bytes.size(), 2u + 64);
  for (const auto& [link, bytes] : led.bytes) EXPECT_NEAR(bytes, link < 2 ? 1 : 1.0 / 64, 1e-12);
}

// Two flows at the speed of a cable, one cable, ways round: the cable takes one of them, the rest goes round.
TEST(Routing, AdaptiveTakesWaysRoundOnlyForWhatDoesNotFit) {
  const Machine machine = machine_of({2, 1, 8, 1, 1}, Routing::adaptive);

  const Led led = lead(machine, across(2));

  EXPECT_NEAR(led.bytes.at(4), 1, 1e-12);
  double round_about = 0;
  for (int w = 0; w < 8; ++w)
    if (const auto found = led.bytes.find(4 + 1 + 2 * w); found != led.bytes.end()) {
      round_about += found->second;
      EXPECT_LE(found->second, 1);
    }
  EXPECT_NEAR(round_about, 1, 1e-12);
}

TEST(Routing, AdaptiveStaysMinimalWhereNoLinkQueues) {
  const Machine machine = machine_of({4, 4, 4, 1, 1}, Routing::adaptive);

  const Led led = lead(machine, across(4));

  for (int c = 0; c < 4; ++c) EXPECT_NEAR(led.bytes.at(8 + c), 1, 1e-12);
}

// Four flows, one cable, one way round of twice the hops, all as fast as a port. Work beyond the pace of 1 is queue:
// hops balance as q = 2 (3 - 1 - ... ): cable x, way 4 - x, x - 1 = 2 (4 - x - 1) gives x = 7/3, met to one part of 1/8.
TEST(Routing, AdaptiveBalancesQueuesByHopsAsUgalDoes) {
  const Machine machine = machine_of({4, 1, 1, 1, 1}, Routing::adaptive);

  const Led led = lead(machine, across(4));

  EXPECT_NEAR(led.bytes.at(8), 7.0 / 3, 1.0 / 8);
  EXPECT_NEAR(led.bytes.at(8 + 1), 4 - 7.0 / 3, 1.0 / 8);
}

// Slow cables fill to what they carry: capacities 1 and 1/2 beside each other.
TEST(Routing, AdaptiveGivesWayToWhatRunsBeside) {
  const Machine machine = machine_of({2, 2, 0, 1, 1}, Routing::adaptive);
  sim::Loads beside;

  const Led first = lead(machine, {{{0, 2, 1.0}}, 1}, beside);
  const Led second = lead(machine, {{{1, 3, 1.0}}, 1}, beside);

  // Together they use both cables alike.
  for (int c = 0; c < 2; ++c) {
    const auto of = [&](const Led& led) { return led.bytes.count(4 + c) ? led.bytes.at(4 + c) : 0.0; };
    EXPECT_NEAR(of(first) + of(second), 1, 1e-12);
  }
}

TEST(Routing, LatencyIsTheMeanOverParts) {
  // Half of two flows goes over one cable of 1 s, half over two.
  const Machine machine = machine_of({2, 1, 8, 1, 1, 1.0}, Routing::adaptive);

  const Led led = lead(machine, across(2));

  EXPECT_NEAR(led.latency[0] + led.latency[1], 1 * 1.0 + 1 * 2.0, 1e-12);
}

TEST(Routing, BarriersGoTheShortWay) {
  const Machine machine = machine_of({2, 1, 8, 1, 1, 1.0}, Routing::adaptive);
  Traffic empty = across(2);
  for (Flow& flow : empty.flows) flow.bytes = 0;

  const Led led = lead(machine, empty);

  EXPECT_TRUE(led.bytes.empty());
  EXPECT_EQ(led.latency, (std::vector<double>{1, 1}));
}

// Two groups of one axis, each a pair across the switches; the second finds the first's route taken.
TEST(Routing, GroupsSideBySideDoNotCollide) {
  for (const Routing routing : {Routing::ecmp, Routing::adaptive}) {
    const Machine machine = machine_of({2, 1, 4, 1, 1}, routing);
    const Schedule schedule =
        same({{"pair", 2}, {"replica", 2}}, {collective(OperationKind::broadcast, 1, 1'000'000)});
    const Placement placement{0, 2, 1, 3};  // ranks 0 and 1 are a group, 2 and 3

    const Trace trace = simulate(schedule, machine, placement, spec());

    const double seconds = at(trace.ranks[0].end_of(0) - trace.ranks[0].begin_of(0));
    EXPECT_NEAR(seconds, routing == Routing::ecmp ? 2e6 : 1e6, 1) << name_of(routing);
  }
}

double seconds_of(const Trace& trace) {
  return at(trace.ranks[0].end_of(std::size_t(trace.iterations) - 1) - trace.ranks[0].begin_of(0));
}
const Schedule broadcasts = same({{"pair", 2}}, {collective(OperationKind::broadcast, 1, 1'000'000)});

// Both want the one cable. Whoever finds it asked for goes round.
TEST(Routing, JobsGoRoundEachOtherWhereTheyCan) {
  const Placement one{0, 2}, other{1, 3};
  for (const int ways : {0, 8}) {
    const Machine machine = machine_of({2, 1, ways, 1, 1}, Routing::adaptive);

    const std::vector<Trace> together =
        simulate({{broadcasts, one, spec(4)}, {broadcasts, other, spec(4)}}, machine);

    EXPECT_NEAR(seconds_of(simulate(broadcasts, machine, one, spec(4))), 4e6, 1);
    for (const Trace& trace : together) EXPECT_NEAR(seconds_of(trace), ways == 0 ? 8e6 : 4e6, 1);
  }
}

// The neighbour computes for three quarters of its time: beside it the cable is shared or gone round, else it is not left.
TEST(Routing, JobsLeaveTheShortWayOnlyWhileItIsAskedFor) {
  const Machine machine = machine_of({2, 1, 8, 1, 1, 1000.0}, Routing::adaptive);
  const Schedule seldom =
      same({{"pair", 2}}, {compute(3e6), collective(OperationKind::broadcast, 1, 1'000'000)});
  const Placement one{0, 2}, other{1, 3};

  const std::vector<Trace> together =
      simulate({{broadcasts, one, spec(4)}, {seldom, other, spec(9), {0}, true}}, machine);

  // The last of four begins beside the neighbour's first, which went round itself; nobody had to wait.
  const double alone = seconds_of(simulate(broadcasts, machine, one, spec(4)));
  EXPECT_NEAR(alone, 4 * 1.001e6, 1);
  EXPECT_NEAR(seconds_of(together[0]), alone, 2000);
}

TEST(Loads, AddUpByLink) {
  sim::Loads loads;
  for (int round = 0; round < 3; ++round)
    for (LinkIndex link = 0; link < 1000; ++link) loads.add(link * 977, link);

  for (LinkIndex link = 0; link < 1000; ++link) EXPECT_EQ(loads.at(link * 977), 3.0 * link);
  EXPECT_EQ(loads.at(1), 0);
}

}  // namespace
}  // namespace dlnb
