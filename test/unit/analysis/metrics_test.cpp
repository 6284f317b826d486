// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "unit/analysis/world.hpp"

namespace dlnb {
namespace {

using namespace world;

constexpr std::int64_t second = 1'000'000'000;

const Metric* find(const Metrics& metrics, std::string_view name) {
  const auto found = std::ranges::find(metrics.named, name, &Metric::name);
  return found == metrics.named.end() ? nullptr : &*found;
}
double value(const Metrics& metrics, std::string_view name) {
  const Metric* metric = find(metrics, name);
  return metric ? metric->value : std::nan("");
}

// Two ranks, two iterations of 1 s and 4 s. Rank 0 computes half of each and waits for rank 1 until 0.75; the
// all-reduce takes the last quarter.
class TwoIterations : public testing::Test {
 protected:
  TwoIterations() {
    schedule = one_role({{"data", 2}}, {compute(), all_reduce(1)});
    schedule.programs[0].operations[0].cost.work = Flops{1e12};
    schedule.global_batch = 32;
    trace.executor = "sim";
    trace.iterations = 2;
    trace.ranks = {rank(0, 0.5), rank(1, 0.75)};
  }

  static RankTrace rank(std::int64_t number, double computing) {
    RankTrace of{.rank = number, .iteration_begin = {0, second}, .iteration_end = {second, 5 * second}};
    for (const std::int64_t begin : {std::int64_t(0), second}) {
      const std::int64_t length = begin == 0 ? second : 4 * second;
      const std::int64_t reduce = begin + std::int64_t(double(length) * computing);
      of.intervals.push_back(at(begin, reduce));
      of.intervals.push_back(at(reduce, begin + length));
    }
    return of;
  }

  Schedule schedule;
  Trace trace;
};

TEST_F(TwoIterations, TimeIsTheArithmeticMeanAndThroughputTheGeometric) {
  const Metrics metrics = analyse(trace, schedule);

  EXPECT_DOUBLE_EQ(value(metrics, "iteration_time"), (1 + 4) / 2.0);
  EXPECT_DOUBLE_EQ(value(metrics, "throughput"), std::sqrt(32.0 / 1 * 32.0 / 4));
  EXPECT_DOUBLE_EQ(value(metrics, "throughput_per_rank"), std::sqrt(32.0 / 1 * 32.0 / 4) / 2);
  EXPECT_EQ(find(metrics, "throughput")->low, 32.0 / 4);
  EXPECT_EQ(find(metrics, "throughput")->high, 32.0 / 1);
}

TEST_F(TwoIterations, PartsDecomposeTheCommunicationFraction) {
  const Metrics metrics = analyse(trace, schedule);

  EXPECT_DOUBLE_EQ(value(metrics, "communication_fraction"),
                   0.5);  // rank 0: a quarter waits, a quarter transfers
  EXPECT_DOUBLE_EQ(value(metrics, "compute"), 0.5 * 2.5);
  EXPECT_DOUBLE_EQ(value(metrics, "straggler_wait"), 0.25 * 2.5);
  EXPECT_DOUBLE_EQ(value(metrics, "transfer"), 0.25 * 2.5);
  EXPECT_DOUBLE_EQ(value(metrics, "pipeline_bubble"), 0);
}

TEST_F(TwoIterations, ImbalanceComparesTheLongestComputeWithTheMean) {
  const Metrics metrics = analyse(trace, schedule);

  EXPECT_DOUBLE_EQ(value(metrics, "compute_imbalance"), 0.75 / ((0.5 + 0.75) / 2));
}

TEST_F(TwoIterations, ComputeRateIsWorkPerRankAndIteration) {
  const Metrics metrics = analyse(trace, schedule);

  EXPECT_DOUBLE_EQ(value(metrics, "achieved_compute_rate"), std::sqrt(1e12 / 1 * 1e12 / 4));
}

TEST_F(TwoIterations, TokensExistOnlyWhereSamplesHaveThem) {
  const Metrics images = analyse(trace, schedule);
  schedule.sequence = 1024;
  const Metrics sequences = analyse(trace, schedule);

  EXPECT_EQ(find(images, "tokens_per_second"), nullptr);
  EXPECT_DOUBLE_EQ(value(sequences, "tokens_per_second"), 1024 * value(sequences, "throughput"));
  EXPECT_DOUBLE_EQ(value(sequences, "tokens_per_second_per_rank"), 1024 * value(sequences, "throughput") / 2);
}

TEST_F(TwoIterations, ComputeErrorExistsOnlyLive) {
  trace.ranks[1].compute_error = 0.004;
  const Metrics simulated = analyse(trace, schedule);
  trace.executor = "mpi";
  const Metrics live = analyse(trace, schedule);

  EXPECT_EQ(find(simulated, "compute_error"), nullptr);
  EXPECT_DOUBLE_EQ(value(live, "compute_error"), (0 + 0.004) / 2);
}

TEST_F(TwoIterations, EveryMetricSaysUnitCountRangeAndDefinition) {
  const Metrics metrics = analyse(trace, schedule);

  EXPECT_GE(metrics.named.size(), 8u);
  for (const Metric& metric : metrics.named) {
    EXPECT_FALSE(metric.unit.empty()) << metric.name;
    EXPECT_GT(metric.count, 0) << metric.name;
    EXPECT_LE(metric.low, metric.value) << metric.name;
    EXPECT_LE(metric.value, metric.high) << metric.name;
    EXPECT_TRUE(metric.definition.ends_with(".")) << metric.name;
  }
}

TEST_F(TwoIterations, IterationRowsTellOfTheSlowestRank) {
  trace.ranks[1].iteration_end[1] += second;  // rank 1 goes on computing

  const Metrics metrics = analyse(trace, schedule);

  ASSERT_EQ(metrics.iterations.size(), 2u);
  EXPECT_EQ(metrics.iterations[1].time, 5);
  EXPECT_EQ(metrics.iterations[1].slowest.compute, 3 * second + second);
  EXPECT_DOUBLE_EQ(metrics.iterations[1].communication_fraction, 0.5);  // still of rank 0
}

TEST(Metrics, AreAllExplainedInTheGuide) {
  std::ostringstream guide;
  guide << std::ifstream(DLNB_TEST_DATA "/../docs/models/metrics.md").rdbuf();

  for (const MetricKind* kind : metrics::all())
    EXPECT_NE(guide.str().find("`" + std::string(kind->name) + "`"), std::string::npos) << kind->name;
}

TEST(Metrics, OfATraceWithoutIterationsAreNone) {
  const Schedule schedule = one_role({{"data", 1}}, {compute()});
  Trace trace{.executor = "mpi", .iterations = 0};
  trace.ranks.push_back({});

  const Metrics metrics = analyse(trace, schedule);

  EXPECT_EQ(find(metrics, "iteration_time"), nullptr);
  EXPECT_TRUE(metrics.iterations.empty());
  EXPECT_TRUE(metrics.timeline.empty());
}

TEST(Metrics, OfAnIterationThatTakesNoTimeHaveNoRates) {
  const Schedule schedule = one_role({{"data", 1}}, {compute()});
  const Trace trace = one_iteration(0, {{at(0, 0)}});

  const Metrics metrics = analyse(trace, schedule);

  EXPECT_EQ(find(metrics, "throughput"), nullptr);
  EXPECT_EQ(value(metrics, "communication_fraction"), 0);
  EXPECT_EQ(value(metrics, "compute_imbalance"), 1);
}

TEST(Metrics, OfAPipelineOfEmptyMessagesShowTheBubble) {
  // GPipe forward of 2 stages and 3 micro-batches of 10: stage 1 waits 10 for its first input, stage 0 idles
  // 10 at the end. Communication fraction (p-1)/(m+p-1) = 1/4, all of it bubble.
  std::vector<Operation> first, last;
  std::vector<Interval> of_first, of_last;
  for (std::int64_t m = 0; m < 3; ++m) {
    first.insert(first.end(), {compute(), send(1, 1)});
    last.insert(last.end(), {recv(1, 0), compute()});
    of_first.insert(of_first.end(), {at(10 * m, 10 * m + 10), at(10 * m + 10, 10 * m + 10)});
    of_last.insert(of_last.end(), {at(m == 0 ? 0 : 10 * m + 10, 10 * m + 10), at(10 * m + 10, 10 * m + 20)});
  }
  const Schedule schedule = roles({{"pipeline", 2}}, 0, {first, last});
  const Trace trace = one_iteration(40, {of_first, of_last});

  const Metrics metrics = analyse(trace, schedule);

  EXPECT_DOUBLE_EQ(value(metrics, "communication_fraction"), 1.0 / (3 + 2 - 1));
  EXPECT_DOUBLE_EQ(value(metrics, "pipeline_bubble"), 10e-9);
}

}  // namespace
}  // namespace dlnb
