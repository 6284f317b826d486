// SPDX-License-Identifier: Apache-2.0
// Noise against its closed forms. Expectations of random quantities hold within the sampling error that is written
// beside them; draws are by seed, so that a test gives the same numbers every time.
#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dlnb/error.hpp>

#include "executor/sim/noise.hpp"
#include "executor/sim/sim.hpp"
#include "schedule/schedule.hpp"
#include "unit/scratch.hpp"
#include "unit/sim/world.hpp"

namespace dlnb {
namespace {

using enum OperationKind;

Value noise(const std::string& toml) {
  return *parse_toml("noise = [" + toml + "]", "test.toml").find("noise");
}

RunSpec disturbed(const std::string& toml, int iterations = 1, std::int64_t seed = 1) {
  RunSpec spec = world::spec(iterations);
  spec.noise = noise(toml);
  spec.seed = seed;
  return spec;
}

Trace trace_of(const Schedule& schedule, const Machine& machine, const RunSpec& spec) {
  return simulate(schedule, machine, world::linear(schedule), spec);
}

/// Seconds of a rank, all iterations.
double whole(const Trace& trace, std::size_t rank = 0) {
  return world::at(trace.ranks[rank].end_of(std::size_t(trace.iterations) - 1) -
                   trace.ranks[rank].begin_of(0));
}

/// Of all iterations.
std::vector<Interval> intervals_of(const Trace& trace, std::size_t rank) {
  std::vector<Interval> all;
  for (std::size_t k = 0; k < std::size_t(trace.iterations); ++k)
    for (std::size_t i = 0; i < trace.ranks[rank].operations(); ++i)
      all.push_back(trace.ranks[rank].iteration(k)[i]);
  return all;
}

bool same_times(const Trace& a, const Trace& b) {
  for (std::size_t r = 0; r < a.ranks.size(); ++r) {
    const auto x = intervals_of(a, r), y = intervals_of(b, r);
    if (x.empty() || x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i].begin != y[i].begin || x[i].end != y[i].end || x[i].completed != y[i].completed) return false;
  }
  return true;
}

/// Every device on a switch of 100 GB/s.
Machine star(int devices) { return world::one_node(world::Star(devices, 100e9, 1e-6)); }

Schedule steps(std::int64_t ranks, double compute, std::int64_t bytes) {
  return world::same({{"data", ranks}}, {world::compute(compute), world::all_reduce(1, bytes)});
}

constexpr const char* every_kind[] = {
    R"({kind="periodic", period="10 ms", duration="1 ms"})",
    R"({kind="periodic", period="10 ms", duration="1 ms", of="node"})",
    R"({kind="random", interval="10 ms", duration="1 ms"})",
    R"({kind="random", interval="10 ms", duration="1 ms", distribution="pareto", shape=1.5, of="node"})",
    R"({kind="outliers", probability=0.2, factor=4, inside_nodes=true})",
    R"({kind="outliers", probability=0.02, factor=4, duration="50 ms", inside_nodes=true})",
    R"({kind="periodic", period="10 ms", duration="1 ms"}, {kind="outliers", probability=0.2, factor=4, inside_nodes=true})",
};

// --- what holds for every kind ------------------------------------------------------------------------------

TEST(Noise, IsTheSameForOneSeedAndAnotherForAnother) {
  const Schedule schedule = steps(8, 5e-3, 1 << 20);
  for (const char* kind : every_kind) {
    const Trace first = trace_of(schedule, star(8), disturbed(kind, 20)),
                again = trace_of(schedule, star(8), disturbed(kind, 20)),
                other = trace_of(schedule, star(8), disturbed(kind, 20, 2));

    EXPECT_TRUE(same_times(first, again)) << kind;
    EXPECT_FALSE(same_times(first, other)) << kind;
  }
}

TEST(Noise, NeverMakesALoneRepeatedCollectiveFaster) {
  for (const OperationKind what : {all_reduce, all_gather, all_to_all, broadcast, barrier})
    for (const std::int64_t bytes : {0, 4096, 1 << 24}) {
      const Schedule schedule =
          world::same({{"data", 8}}, {world::collective(what, 1, what == barrier ? 0 : bytes)});
      const double quiet = whole(trace_of(schedule, star(8), world::spec(50)));
      for (const char* kind : every_kind)
        EXPECT_GE(whole(trace_of(schedule, star(8), disturbed(kind, 50))), quiet) << kind << bytes;
    }
}

TEST(Noise, OfNoKindChangesNothing) {
  const Schedule schedule = steps(8, 5e-3, 1 << 20);

  EXPECT_TRUE(same_times(trace_of(schedule, star(8), world::spec(5)),
                         trace_of(schedule, star(8), disturbed(R"({kind="none"})", 5))));
}

// Ranks in step and stretches at once are shortcuts: without noise that is felt, and without them, times are the same.
TEST(Noise, ThatNobodyFeelsChangesNothing) {
  const Schedule schedule =
      world::same({{"tensor", 4}, {"data", 2}},
                  {world::compute(1e-3), world::all_reduce(1, 1 << 20), world::compute(2e-3),
                   world::all_reduce(1, 1 << 22), world::all_reduce(2, 1 << 24)});
  const Trace quiet = trace_of(schedule, star(8), world::spec(5));

  for (const char* kind : {R"({kind="random", interval="100000 s", duration="1 us"})",
                           R"({kind="outliers", probability=0, factor=4, inside_nodes=true})"})
    EXPECT_TRUE(same_times(quiet, trace_of(schedule, star(8), disturbed(kind, 5)))) << kind;
}

TEST(Noise, LeavesNeitherGapsNorOverlaps) {
  const Schedule schedule =
      world::same({{"data", 4}}, {world::compute(3e-3), world::all_reduce(1, 1 << 24, 0),
                                  world::compute(2e-3), world::wait(1, 0), world::all_reduce(1, 64)});
  for (const char* kind : every_kind) {
    const Trace trace = trace_of(schedule, star(4), disturbed(kind, 20));

    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
      std::int64_t now = trace.ranks[rank].begin_of(0);
      for (const Interval& interval : intervals_of(trace, rank)) {
        EXPECT_EQ(interval.begin, now) << kind;
        EXPECT_GE(interval.end, interval.begin) << kind;
        now = interval.end;
      }
      EXPECT_EQ(now, trace.ranks[rank].end_of(std::size_t(trace.iterations) - 1)) << kind;
    }
  }
}

// The neighbour's job has its own devices, and its being there changes nobody's draws.
TEST(Noise, OfAJobDoesNotDependOnItsNeighbours) {
  const Schedule schedule = steps(4, 5e-3, 0);
  const Machine machine = star(8);
  const RunSpec spec = disturbed(every_kind[2], 20);

  const std::vector<Trace> together =
      simulate({{schedule, {0, 1, 2, 3}, spec}, {schedule, {4, 5, 6, 7}, world::spec(20)}}, machine);

  EXPECT_TRUE(same_times(together[0], trace_of(schedule, machine, spec)));
  EXPECT_TRUE(same_times(together[1], trace_of(schedule, machine, world::spec(20))));
}

// --- time taken from ranks ------------------------------------------------------------------------------

// Of a time T the share d/P is lost: T = W / (1 − d/P), to within one interruption.
TEST(PeriodicNoise, TakesItsShareOfTheTime) {
  const Schedule schedule = world::same({{"data", 1}}, {world::compute(1)});
  for (const auto& [toml, share, longest] :
       {std::tuple{R"({kind="periodic", period="1 ms", duration="25 us"})", 0.025, 25e-6},
        std::tuple{R"({kind="periodic", period="10 ms", duration="4 ms"})", 0.4, 4e-3},
        std::tuple{R"({kind="periodic"})", 0.025, 2.5e-3}})
    for (const std::int64_t seed : {1, 2, 3})
      EXPECT_NEAR(whole(trace_of(schedule, star(1), disturbed(toml, 10, seed))), 10 / (1 - share), longest)
          << toml;
}

// By hand: phase φ from the draw, a compute phase of 3 ms that begins at 0.
TEST(PeriodicNoise, InterruptsWhereItsPhaseSays) {
  const double period = 2e-3, duration = 0.5e-3, work = 3e-3;
  const Schedule schedule = world::same({{"data", 1}}, {world::compute(work)});
  for (std::int64_t seed = 1; seed <= 20; ++seed) {
    double at = 0, left = work;
    const double phase = sim::draw(sim::mixed(std::uint64_t(seed), 0), 0, 0) * period;
    for (double begin = phase - period; left > 0; begin += period) {
      if (begin > at) {
        const double done = std::min(left, begin - at);
        left -= done, at += done;
      }
      if (left > 0) at = std::max(at, begin + duration);
    }

    const Trace trace = trace_of(
        schedule, star(1), disturbed(R"({kind="periodic", period="2 ms", duration="0.5 ms"})", 1, seed));

    EXPECT_NEAR(world::at(trace.ranks[0].iteration(0).end(0)), at, 1.1e-9) << seed;
  }
}

TEST(PeriodicNoise, OfNodesIsTheSameOnAllTheirRanks) {
  const Schedule schedule = world::same({{"data", 4}}, std::vector<Operation>(20, world::compute(1e-3)));
  const Machine machine = world::cluster(2, 2, 100e9, 25e9);

  const Trace trace = trace_of(schedule, machine,
                               disturbed(R"({kind="periodic", period="10 ms", duration="3 ms", of="node"})"));

  const auto ends = [&](std::size_t rank) {
    std::vector<std::int64_t> all;
    for (const Interval& interval : intervals_of(trace, rank)) all.push_back(interval.end);
    return all;
  };
  EXPECT_EQ(ends(0), ends(1));
  EXPECT_EQ(ends(2), ends(3));
  EXPECT_NE(ends(0), ends(2));
}

// λ · m of the time is lost: T = W / (1 − λm). What is lost in W is a compound Poisson sum with variance λ T E[d²]; over
// 64 ranks and 20 s of work that is known to 4 σ.
TEST(RandomNoise, TakesItsShareOfTheTime) {
  const double interval = 10e-3, mean = 1e-3, work = 20;
  const Schedule schedule = world::same({{"data", 64}}, {world::compute(work)});
  struct {
    const char* rest;
    double second_moment;  // E[d²]/m²
  } const distributions[] = {{R"(distribution="constant")", 1},
                             {R"(distribution="exponential")", 2},
                             {R"(distribution="pareto", shape=4)", 9.0 / 8}};  // (α−1)² / (α(α−2))
  for (const auto& [rest, second] : distributions) {
    const Trace trace = trace_of(
        schedule, star(64),
        disturbed(std::string(R"({kind="random", interval="10 ms", duration="1 ms", )") + rest + "}"));

    double sum = 0;
    for (std::size_t rank = 0; rank < 64; ++rank) sum += whole(trace, rank);
    const double expected = work / (1 - mean / interval);
    // Interruptions of interrupted time are counted in it: 1/(1 − λm)³ in the variance of a busy period's sum.
    const double sigma =
        std::sqrt(work / interval * mean * mean * second / std::pow(1 - mean / interval, 3) / 64);
    EXPECT_NEAR(sum / 64, expected, 4 * sigma) << rest;
    EXPECT_GT(sum / 64, work * (1 + 0.9 * mean / interval));
  }
}

// An operation that is over during an interruption is noticed at its end.
TEST(RandomNoise, ALateRankHoldsUpTheNextCollective) {
  const Schedule schedule = world::same({{"data", 16}}, {world::all_reduce(1, 1 << 20)});
  const double quiet = whole(trace_of(schedule, star(16), world::spec(200)));

  const double noisy = whole(trace_of(
      schedule, star(16), disturbed(R"({kind="random", interval="10 ms", duration="200 us"})", 200)));

  // Each of 16 ranks is away for 2 % of the time, and the collective waits for the last of them.
  EXPECT_GT(noisy, quiet * 1.02);
}

// --- measured -------------------------------------------------------------------------------------------

std::string written(const std::string& name, const std::string& text) {
  static const Scratch scratch;
  return scratch.write(name, text).string();
}

/// An exponential distribution of mean m as the middles of its 4096-quantiles.
std::string exponential_file(double mean) {
  std::string text = "delays = [";
  for (int i = 0; i < 4096; ++i)
    text += "\"" + std::to_string(-mean * 1e9 * std::log(1 - (i + 0.5) / 4096)) + " ns\",\n";
  return written("exponential.toml", text + "]\n");
}

// n ranks are each late by a delay of mean m, exponentially distributed: the last of them by m · H_n on average, with
// variance m² Σ 1/k² < 1.645 m².
TEST(MeasuredNoise, ACollectiveWaitsForItsSlowestMember) {
  const double mean = 1e-3, work = 2e-3;
  const int iterations = 400;
  const std::string kind = "{kind=\"measured\", to=\"compute\", file=\"" + exponential_file(mean) + "\"}";
  double before = 0;
  for (const int ranks : {1, 2, 8, 64}) {
    const Schedule schedule =
        world::same({{"data", ranks}}, {world::compute(work), world::collective(barrier, 1, 0)});
    const Machine machine = world::one_node(world::Star(ranks, 100e9, 0));
    double harmonic = 0;
    for (int k = 1; k <= ranks; ++k) harmonic += 1.0 / k;

    const double mean_step = whole(trace_of(schedule, machine, disturbed(kind, iterations))) / iterations;

    EXPECT_NEAR(mean_step, work + mean * harmonic, 4 * 1.29 * mean / std::sqrt(iterations)) << ranks;
    EXPECT_GT(mean_step, before);
    before = mean_step;
  }
}

TEST(MeasuredNoise, OfABenchmarksSeriesStretchesCollectives) {
  const std::string file = written("series.json", R"({"schema": "dlnetbench.coll/1", "rows": [
    {"operation": "all-reduce", "series": [2e-3, 2e-3, 3e-3, 2e-3]}, {"operation": "barrier"}]})");
  const Schedule schedule = world::same({{"data", 4}}, {world::all_reduce(1, 1 << 24)});
  const int iterations = 2000;
  const double quiet = whole(trace_of(schedule, star(4), world::spec(iterations)));

  const Trace trace =
      trace_of(schedule, star(4), disturbed("{kind=\"measured\", file=\"" + file + "\"}", iterations));

  // One of four takes 1.5 times as long. A share of 1/4 over 2000 draws: ± 4 · sqrt(3/16/2000).
  EXPECT_NEAR(whole(trace) / quiet, 1 + 0.5 / 4, 0.5 * 4 * std::sqrt(3.0 / 16 / iterations));
  const double each = quiet / iterations;
  for (int i = 0; i < iterations; ++i) {
    const double took =
        world::at(trace.ranks[0].end_of(std::size_t(i)) - trace.ranks[0].begin_of(std::size_t(i)));
    EXPECT_TRUE(std::abs(took - each) < 2e-9 || std::abs(took - 1.5 * each) < 2e-9) << took;
  }
}

TEST(MeasuredNoise, OfAResultStretchesTheComputeOfWholeIterations) {
  const std::string file = written("result.json", R"({"schema": "dlnetbench.result/1", "iterations": [
    {"compute": 0.5}, {"compute": 1}, {"compute": 0.5}]})");
  const Schedule schedule = world::same({{"data", 1}}, {world::compute(1e-3), world::compute(3e-3)});

  const Trace trace =
      trace_of(schedule, star(1), disturbed("{kind=\"measured\", file=\"" + file + "\"}", 300));

  int slow = 0;
  for (std::size_t i = 0; i < 300; ++i) {
    const auto length = [&](std::size_t k) {
      return trace.ranks[0].iteration(i).end(k) - trace.ranks[0].iteration(i).begin(k);
    };
    slow += length(0) == 2'000'000;
    EXPECT_EQ(length(1), 3 * length(0));
    EXPECT_TRUE(length(0) == 1'000'000 || length(0) == 2'000'000) << length(0);
  }
  EXPECT_NEAR(slow, 100, 4 * std::sqrt(300 * 2.0 / 9));
}

// Uniform between 0 and 1: the mean is a half.
TEST(MeasuredNoise, QuantilesAreJoinedByLines) {
  const std::string file = written("quantiles.toml", "probabilities = [0, 1]\nrelative = [0, 1]\n");
  const Schedule schedule = world::same({{"data", 1}}, {world::compute(1e-3)});

  const double time = whole(trace_of(
      schedule, star(1), disturbed("{kind=\"measured\", to=\"compute\", file=\"" + file + "\"}", 3000)));

  EXPECT_NEAR(time, 3 * 1.5, 3 * 4 * std::sqrt(1.0 / 12 / 3000));
}

// --- outliers ------------------------------------------------------------------------------------------

TEST(Outliers, StrikeTheirShareOfCollectivesBetweenNodes) {
  const Schedule schedule = world::same({{"data", 4}}, {world::all_reduce(1, 1 << 24)});
  const char* kind = R"({kind="outliers", probability=0.1, factor=5})";
  const int iterations = 2000;
  const auto ratio = [&](const Machine& machine) {
    return whole(trace_of(schedule, machine, disturbed(kind, iterations))) /
           whole(trace_of(schedule, machine, world::spec(iterations)));
  };

  EXPECT_NEAR(ratio(world::cluster(2, 2, 100e9, 25e9)), 1 + 4 * 0.1, 4 * 4 * std::sqrt(0.09 / iterations));
  EXPECT_DOUBLE_EQ(ratio(star(4)), 1);
}

// What begins within `duration` of an outlier is one: after one of 0.01 probability 10 of those of a quiet time t that
// follow it take 5 t each.
TEST(Outliers, LastForTheirDuration) {
  const Schedule schedule = world::same({{"data", 2}}, {world::all_reduce(1, 1 << 24)});
  const Machine machine = world::cluster(2, 1, 100e9, 25e9);
  const double each = whole(trace_of(schedule, machine, world::spec(1)));
  const std::string kind = "{kind=\"outliers\", probability=0.01, factor=5, duration=\"" +
                           std::to_string(each * 49.5 * 1e9) + " ns\"}";

  const Trace trace = trace_of(schedule, machine, disturbed(kind, 3000));

  int run = 0, runs = 0;
  for (std::size_t i = 0; i < 3000; ++i) {
    const double took = world::at(trace.ranks[0].end_of(i) - trace.ranks[0].begin_of(i));
    if (took > 2 * each) {
      ++run;
    } else if (run > 0) {
      EXPECT_EQ(run % 10, 0) << "before iteration " << i;
      run = 0, ++runs;
    }
  }
  EXPECT_GT(runs, 10);
}

// Data moves at its usual rate: the links carry as much, and a struck collective takes nothing from others.
TEST(Outliers, LeaveLinksToOthers) {
  const Schedule schedule = world::same({{"data", 2}}, {world::all_reduce(1, 1 << 26)});
  const Machine machine = world::one_node(world::Bus(4, 10e9, 0));
  RunSpec struck = disturbed(R"({kind="outliers", probability=1, factor=3, inside_nodes=true})", 1);

  const std::vector<Trace> together =
      simulate({{schedule, {0, 1}, struck}, {schedule, {2, 3}, world::spec(1)}}, machine);

  const double alone = whole(trace_of(schedule, machine, world::spec(1)));
  EXPECT_NEAR(whole(together[1]), 2 * alone, 1e-8);
  EXPECT_NEAR(whole(together[0]), 3 * 2 * alone, 1e-8);
}

// --- refusals ------------------------------------------------------------------------------------------

TEST(Noise, RefusesWhatMakesNoSense) {
  const std::string empty = written("none.json",
                                    R"({"schema": "dlnetbench.coll/1", "rows": [{"operation": "barrier"}]})"),
                    both = written("both.toml", "relative = [0]\ndelays = [\"1 us\"]\n"),
                    typo = written("typo.toml", "relativ = [0]\n"),
                    falling = written("falling.toml", "relative = [1, 0]\nprobabilities = [0, 1]\n"),
                    negative = written("negative.toml", "relative = [-0.5]\n"),
                    delays = written("delays.toml", "delays = [\"1 us\"]\n"),
                    units =
                        written("units.json",
                                R"({"schema": "dlnetbench.coll/1", "rows": [{"series": [1e-300, 1e300]}]})");
  const auto measured = [](const std::string& file) { return "{kind=\"measured\", file=\"" + file + "\"}"; };
  const std::pair<std::string, std::string> bad[] = {
      {R"({period="1 ms"})", "it is not said which kind"},
      {R"({kind="periodical"})", "periodic"},
      {R"({kind="periodic", perod="1 ms"})", "nothing is called 'perod'"},
      {R"({kind="periodic", period="1"})", "noise.period"},
      {R"({kind="periodic", period="1 ms", duration="1 ms"})", "nothing would ever be done"},
      {R"({kind="periodic", of="device"})", "noise.of: nothing is called 'device'"},
      {R"({kind="random", interval="1 ms", duration="2 ms"})", "nothing would ever be done"},
      {R"({kind="random", shape=2})", "pareto"},
      {R"({kind="random", distribution="pareto", shape=1})", "noise.shape"},
      {R"({kind="outliers", factor=5})", "noise.probability"},
      {R"({kind="outliers", probability=0.1})", "noise.factor"},
      {R"({kind="outliers", probability=1.5, factor=5})", "noise.probability"},
      {R"({kind="outliers", probability=0.5, factor=0.5})", "noise.factor"},
      {R"({kind="none", period="1 ms"})", "period"},
      {R"({kind="measured"})", "noise.file"},
      {R"({kind="measured", file="/nowhere/x.json"})", "/nowhere/x.json"},
      {measured(empty), "no row has a series of times"},
      {measured(both), "either"},
      {measured(typo), "nothing is called 'relativ'"},
      {measured(falling), "ascending"},
      {measured(negative), "relative"},
      {measured(delays), "does not say what they are of"},
      {measured(units), "units.json:1 rows.series: a time is more than 1e+07 times another one"},
      {R"({kind="periodic"}, {kind="random"})", "two kinds of noise disturb ranks"},
      {R"({kind="outliers", probability=0, factor=2}, {kind="outliers", probability=0, factor=2})",
       "two kinds of noise disturb collectives"},
  };
  for (const auto& [toml, words] : bad) try {
      sim::make_disturbance(noise(toml), 1);
      ADD_FAILURE() << "accepted: " << toml;
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << toml << ": " << error.what();
    }
}

/// What the refusal of a simulated run says.
std::string refusal(const Schedule& schedule, const RunSpec& spec) {
  try {
    trace_of(schedule, star(4), spec);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Noise, ThatWouldNeverEndIsRefused) {
  // 10⁴ years of interruptions in one period; 5·10¹² interruptions of one compute phase.
  EXPECT_THAT(refusal(steps(4, 0.05, 64),
                      disturbed(R"({kind="periodic", period="1e7 s", duration="9999999.999999 s"})")),
              testing::HasSubstr("more than 292 years"));
  EXPECT_THAT(
      refusal(steps(4, 0.05, 64), disturbed(R"({kind="random", interval="100 ns", duration="99.99999 ns"})")),
      testing::HasSubstr("test.toml:1 noise.interval: one rank is interrupted more than 200 million"));
}

TEST(Noise, OfCollectivesIsRefusedWhereThereAreNone) {
  RunSpec spec = disturbed(R"({kind="outliers", probability=1, factor=2})");
  spec.lower = "ring";
  const Schedule lowered = lower(steps(4, 1e-3, 4096), {nullptr, {}, "test"});
  EXPECT_THAT(refusal(lowered, spec), testing::HasSubstr("no collectives to disturb"));

  spec.noise = noise(R"({kind="periodic"})");
  EXPECT_EQ(refusal(lowered, spec), "");
}

TEST(Noise, IsNamedWithItsSeed) {
  const Trace trace = trace_of(steps(2, 1e-3, 64), star(2),
                               disturbed(R"({kind="periodic", period="1 ms", duration="25 us"})", 1, 7));

  ASSERT_EQ(trace.notes.size(), 1u);
  EXPECT_EQ(trace.notes[0], "noise: periodic (period = 1 ms, duration = 25 us); seed 7");
}

}  // namespace
}  // namespace dlnb
