// SPDX-License-Identifier: Apache-2.0
// Compute that runs at 1/f of its speed while operations of its rank that it does not wait for are in flight.
#include <gtest/gtest.h>

#include "executor/sim/sim.hpp"
#include "unit/sim/world.hpp"

namespace dlnb {
namespace {

using enum OperationKind;

RunSpec slowed(double factor, int iterations = 1) {
  RunSpec spec = world::spec(iterations);
  spec.overlap_slowdown = factor;
  return spec;
}

Trace trace_of(const Schedule& schedule, const Machine& machine, const RunSpec& spec) {
  return simulate(schedule, machine, world::linear(schedule), spec);
}

/// 2 ranks, 10 GB/s each way: an all-reduce of S bytes takes S / 10 GB/s.
const Machine& pair() {
  static const Machine machine = world::one_node(world::Star(2, 10e9, 0));
  return machine;
}

double end_of(const Trace& trace, std::size_t operation, std::size_t rank = 0) {
  return world::at(trace.ranks[rank].iteration(0).end(operation));
}

Schedule beside(double compute, std::int64_t bytes) {
  return world::same({{"data", 2}},
                     {world::all_reduce(1, bytes, 0), world::compute(compute), world::wait(1, 0)});
}

// C seconds of compute beside an all-reduce of R: all of it slowed where it is short, C·f ≤ R; else R/f of it is done
// when the all-reduce is over, and C − R/f are left.
TEST(OverlapSlowdown, IsTheClosedFormOfOneComputeBesideOneAllReduce) {
  const std::int64_t bytes = 100'000'000;
  const double r = double(bytes) / 10e9;
  for (const double f : {1.0, 1.2, 2.0, 5.0})
    for (const double c : {0.1 * r, 0.5 * r, r, 3 * r}) {
      const Trace trace = trace_of(beside(c, bytes), pair(), slowed(f));

      const double expected = c * f <= r ? c * f : r + (c - r / f);
      EXPECT_NEAR(end_of(trace, 1), expected, 1.1e-9) << f << " " << c / r;
      EXPECT_NEAR(end_of(trace, 2), std::max(expected, r), 1.1e-9);
      // Communication is not slowed by compute.
      EXPECT_NEAR(world::at(trace.ranks[0].iteration(0).completed(0)), r, 1.1e-9);
    }
}

// An all-reduce that begins in the middle: the other rank arrives after 4 ms.
TEST(OverlapSlowdown, BeginsWithTheOperationAndNotWithItsPosting) {
  const std::int64_t bytes = 20'000'000;  // 2 ms
  const Schedule schedule = world::staged(
      {{"data", 2}}, {{world::all_reduce(1, bytes, 0), world::compute(10e-3), world::wait(1, 0)},
                      {world::compute(4e-3), world::all_reduce(1, bytes, 0), world::wait(1, 0)}});

  const Trace trace = trace_of(schedule, pair(), slowed(2));

  EXPECT_NEAR(end_of(trace, 1), 11e-3, 1.1e-9);  // 2 ms of it at half the speed
  EXPECT_NEAR(end_of(trace, 0, 1), 4e-3, 1.1e-9);
}

// Two at once slow it down as much as one.
TEST(OverlapSlowdown, IsOneFactorHoweverManyAreInFlight) {
  const Machine machine = world::one_node(world::Star(4, 10e9, 0));
  const Schedule schedule = world::same(
      {{"tensor", 2}, {"data", 2}}, {world::all_reduce(1, 50'000'000, 0), world::all_reduce(2, 50'000'000, 1),
                                     world::compute(20e-3), world::wait(1, 0), world::wait(2, 1)});

  const Trace trace = trace_of(schedule, machine, slowed(2));

  // Together they take 10 ms over one port, or 5 ms each if alone; then the rest is at full speed.
  const double over =
      world::at(std::max(trace.ranks[0].iteration(0).completed(0), trace.ranks[0].iteration(0).completed(1)));
  EXPECT_NEAR(over, 10e-3, 1.1e-9);
  EXPECT_NEAR(end_of(trace, 2), 10e-3 + (20e-3 - 10e-3 / 2), 1.1e-9);
}

TEST(OverlapSlowdown, CountsMessagesForBothEnds) {
  const std::int64_t bytes = 50'000'000;  // 5 ms
  const Schedule schedule = world::staged(
      {{"pipeline", 2}}, {{world::send(1, 1, bytes, 0), world::compute(4e-3), world::wait(1, 0)},
                          {world::recv(1, 0, bytes, 0), world::compute(1e-3), world::wait(1, 0)}});

  const Trace trace = trace_of(schedule, pair(), slowed(2));

  EXPECT_NEAR(end_of(trace, 1, 0), 5e-3 + (4e-3 - 2.5e-3), 1.1e-9);
  EXPECT_NEAR(end_of(trace, 1, 1), 2e-3, 1.1e-9);
}

// To the nanosecond of the trace, shortcuts of the engine on or off.
TEST(OverlapSlowdown, LeavesPlansThatOnlyBlockAsTheyAre) {
  const Schedule schedule =
      world::same({{"tensor", 4}, {"data", 2}},
                  {world::compute(1e-3), world::all_reduce(1, 1 << 20), world::compute(2e-3),
                   world::all_reduce(1, 1 << 22), world::all_reduce(2, 1 << 24), world::compute(1e-3)});
  const Machine machine = world::one_node(world::Star(8, 100e9, 1e-6));

  const Trace quick = trace_of(schedule, machine, world::spec(5)),
              slow = trace_of(schedule, machine, slowed(3, 5));

  for (std::size_t r = 0; r < 8; ++r)
    for (std::size_t k = 0; k < 5; ++k) {
      const OperationTimes of_quick = quick.ranks[r].iteration(k), of_slow = slow.ranks[r].iteration(k);
      ASSERT_EQ(of_quick.size(), schedule.programs[0].operations.size());
      for (std::size_t i = 0; i < of_quick.size(); ++i) {
        EXPECT_EQ(of_quick.begin(i), of_slow.begin(i));
        EXPECT_EQ(of_quick.end(i), of_slow.end(i));
      }
    }
}

TEST(OverlapSlowdown, IsTheMachinesUnlessTheRunSaysOtherwise) {
  Machine machine = pair();
  machine.software.overlap_slowdown = 2;
  const Schedule schedule = beside(1e-3, 100'000'000);

  EXPECT_NEAR(end_of(trace_of(schedule, machine, world::spec()), 1), 2e-3, 1.1e-9);
  EXPECT_NEAR(end_of(trace_of(schedule, machine, slowed(1)), 1), 1e-3, 1.1e-9);
}

// Noise and slow-down at once: neither is lost, and f = 1 with noise is the noise alone.
TEST(OverlapSlowdown, GoesTogetherWithNoise) {
  const Schedule schedule = beside(50e-3, 200'000'000);  // 20 ms
  RunSpec spec = world::spec();
  spec.noise =
      *parse_toml(R"(noise = [{kind="periodic", period="1 ms", duration="0.1 ms"}])", "t").find("noise");
  const double noisy = end_of(trace_of(schedule, pair(), spec), 1);
  spec.overlap_slowdown = 2;
  const double both = end_of(trace_of(schedule, pair(), spec), 1);

  EXPECT_NEAR(noisy, 50e-3 / 0.9, 0.11e-3);
  // In the first 20 ms nine tenths of the time are left, at half the speed.
  EXPECT_NEAR(both, 20e-3 + (50e-3 - 20e-3 * 0.9 / 2) / 0.9, 0.11e-3);
}

}  // namespace
}  // namespace dlnb
