// SPDX-License-Identifier: Apache-2.0
// Several jobs on one machine.
#include <gtest/gtest.h>

#include <dlnb/error.hpp>

#include "executor/sim/sim.hpp"
#include "world.hpp"

namespace dlnb {
namespace {

using namespace world;

constexpr std::int64_t MB = 1'000'000;

/// Ends of the measured iterations of a rank, seconds.
std::vector<double> ends(const Trace& trace, std::size_t rank = 0) {
  std::vector<double> seconds;
  for (std::size_t k = 0; k < std::size_t(trace.iterations); ++k)
    seconds.push_back(at(trace.ranks[rank].end_of(k)));
  return seconds;
}

const Schedule reduces = same({{"data", 2}}, {compute(1), all_reduce(1, 20 * MB)});

TEST(Jobs, ThatShareNoLinkAreEachAsFastAsAlone) {
  const Machine machine = one_node(Star(4, 10e6, 1e-3));
  const Placement left{0, 1}, right{2, 3};
  const RunSpec three = spec(3, 1);

  const std::vector<Trace> together = simulate({{reduces, left, three}, {reduces, right, three}}, machine);

  EXPECT_EQ(ends(together[0]), ends(simulate(reduces, machine, left, three)));
  EXPECT_EQ(ends(together[1]), ends(together[0]));
}

// A ring of two sends 20 MB over the bus, both ways: 40 MB at 10 MB/s, or at half of that beside an equal job.
TEST(Jobs, ThatShareALinkShareItsBandwidth) {
  const Machine machine = one_node(Bus(4, 10e6, 0));
  const Placement left{0, 1}, right{2, 3};

  const std::vector<Trace> together = simulate({{reduces, left, spec()}, {reduces, right, spec()}}, machine);

  EXPECT_NEAR(ends(simulate(reduces, machine, left, spec()))[0], 1 + 4, 1e-6);
  for (const Trace& trace : together) EXPECT_NEAR(ends(trace)[0], 1 + 8, 1e-6);
}

// Each has 40 MB at half of the rate it has alone: 8 s instead of 4, on the only link, beside the other job. It is full
// for these 8 of 9 s.
TEST(Jobs, KnowWhichLinkAndWhoseOperationsSlowedThem) {
  const Machine machine = one_node(Bus(4, 10e6, 0));
  const Placement left{0, 1}, right{2, 3};

  const std::vector<Trace> together = simulate({{reduces, left, spec()}, {reduces, right, spec()}}, machine);

  for (std::size_t j = 0; j < together.size(); ++j) {
    const LinkReport& links = together[j].links;
    EXPECT_NEAR(links.span, 9, 1e-9);
    ASSERT_EQ(links.classes.size(), 1u);
    EXPECT_EQ(links.classes[0].used, 1);
    EXPECT_NEAR(links.classes[0].mean, 80.0 / 90, 1e-9);
    ASSERT_EQ(links.hot.size(), 1u);
    EXPECT_NEAR(links.hot[0].full, 8, 1e-9);
    EXPECT_NEAR(links.hot[0].by_job[0], 40.0 / 90, 1e-9);
    ASSERT_EQ(links.slowed.size(), 1u);
    EXPECT_EQ(links.slowed[0].by, int(1 - j));
    EXPECT_EQ(links.slowed[0].kind, OperationKind::all_reduce);
    EXPECT_NEAR(links.slowed[0].lost, 4, 1e-9);
    EXPECT_NEAR(links.lost, 4, 1e-9);
  }
}

// The job that repeats is cut off while it moves data: what it had not moved does not count.
TEST(Jobs, NeverTakeMoreOfALinkThanThereIs) {
  const Machine machine = one_node(Bus(4, 10e6, 0));
  const Schedule endless = same({{"data", 2}}, {all_reduce(1, 30 * MB)});

  const std::vector<Trace> together =
      simulate({{reduces, {0, 1}, spec(2)}, {endless, {2, 3}, spec(), {0}, true}}, machine);

  const LinkReport& links = together[0].links;
  EXPECT_LE(links.hot.at(0).utilisation, 1 + 1e-9);
  EXPECT_GT(links.hot.at(0).utilisation, 0.99);  // the other is always there
}

// Collectives that nobody can slow down are worked out five at once, 2 s; the others end after 3 s.
TEST(Jobs, AreCountedWhereTheyAreCutOffInAStretch) {
  const Machine machine = one_node(Star(4, 10e6, 0));
  const Operation one = all_reduce(1, 4 * MB);
  const Schedule endless = same({{"data", 2}}, {one, one, one, one, one});

  const std::vector<Trace> together =
      simulate({{reduces, {0, 1}, spec()}, {endless, {2, 3}, spec(), {0}, true}}, machine);

  EXPECT_NEAR(together[0].links.hot.at(0).utilisation, 1, 1e-9);
  EXPECT_EQ(together[0].links.hot.at(0).by_job.at(0), 0);
}

TEST(Jobs, AloneAreSlowedByTheirOwnOperationsOnly) {
  const Machine machine = one_node(Bus(4, 10e6, 0));
  const Schedule both = same({{"data", 2}, {"tensor", 2}},
                             {all_reduce(1, 20 * MB, 0), all_reduce(2, 20 * MB, 1), wait(1, 0), wait(2, 1)});

  const Trace trace = simulate(both, machine, linear(both), spec());

  ASSERT_FALSE(trace.links.slowed.empty());
  for (const Slowing& slowing : trace.links.slowed) EXPECT_EQ(slowing.by, 0);
  EXPECT_TRUE(simulate(reduces, machine, {0, 1}, spec()).links.slowed.empty());
}

// Alone from 1 to 3 s (20 of its 40 MB), then beside the other until that has moved all; the rest alone.
TEST(Jobs, MayStartLater) {
  const Machine machine = one_node(Bus(4, 10e6, 0));
  const Placement left{0, 1}, right{2, 3};

  const std::vector<Trace> together =
      simulate({{reduces, left, spec()}, {reduces, right, spec(), {2}}}, machine);

  EXPECT_NEAR(ends(together[0])[0], 3 + 20 / 5.0, 1e-6);
  EXPECT_EQ(together[1].ranks[0].begin_of(0), 2'000'000'000);
  EXPECT_NEAR(ends(together[1])[0], 7 + 20 / 10.0, 1e-6);
}

TEST(Jobs, ThatRepeatKeepTheOthersCompanyToTheirEnd) {
  const Machine machine = one_node(Bus(4, 10e6, 0));
  const Placement left{0, 1}, right{2, 3};
  const RunSpec many = spec(100);

  const std::vector<Trace> together =
      simulate({{reduces, left, spec(3)}, {reduces, right, many, {0}, true}}, machine);

  EXPECT_NEAR(ends(together[0])[2], 3 * 9, 1e-6);  // never alone
  EXPECT_GE(together[1].iterations, 2);
  EXPECT_LE(together[1].iterations, 3);
  EXPECT_LE(ends(together[1], 1).back(), ends(together[0], 1).back());
}

TEST(Jobs, AreNeverFasterWithANeighbour) {
  const Machine machine = cluster(4, 2, 50e6, 10e6, 1e-4);
  const Placement left{0, 2, 4, 6}, right{1, 3, 5, 7};
  const Schedule repeated = same({{"data", 4}}, {all_reduce(1, 10 * MB)});
  for (const std::int64_t bytes : {MB, 10 * MB, 40 * MB}) {
    const Schedule neighbour = same({{"data", 4}}, {compute(0.05), all_reduce(1, bytes)});

    const auto alone = ends(simulate(repeated, machine, left, spec(5)));
    const auto beside =
        ends(simulate({{repeated, left, spec(5)}, {neighbour, right, spec(5), {0}, true}}, machine)[0]);

    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_GE(beside[i], alone[i] - 1e-9);
  }
}

TEST(Jobs, OfDifferentShapesKeepTheirOwnOrder) {
  const Machine machine = one_node(Star(6, 10e6, 1e-3));
  const Placement left{0, 1}, right{2, 3, 4, 5};
  const Schedule pipeline = staged(
      {{"pipeline", 2}, {"data", 2}},
      {{compute(0.1), send(1, 1, MB), all_reduce(2, MB)}, {recv(1, 0, MB), compute(0.2), all_reduce(2, MB)}});

  const std::vector<Trace> together =
      simulate({{reduces, left, spec(2)}, {pipeline, right, spec(4, 1)}}, machine);

  const Trace alone = simulate(pipeline, machine, right, spec(4, 1));
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_EQ(ends(together[1], rank), ends(alone, rank));
}

TEST(Jobs, MustNotAllRepeatAndMustMeasureSomething) {
  const Machine machine = one_node(Star(4, 10e6, 0));
  const Placement left{0, 1}, right{2, 3};

  EXPECT_THROW(simulate({{reduces, left, spec(), {0}, true}}, machine), UserError);
  EXPECT_THROW(simulate({{reduces, left, spec(1)}, {reduces, right, spec(1, 10), {0}, true}}, machine),
               UserError);
  const Schedule nothing_to_do = same({{"data", 2}}, {compute(0)});
  EXPECT_THROW(simulate({{reduces, left, spec(1)}, {nothing_to_do, right, spec(1), {0}, true}}, machine),
               UserError);
}

}  // namespace
}  // namespace dlnb
