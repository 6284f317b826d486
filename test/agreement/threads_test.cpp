// SPDX-License-Identifier: Apache-2.0
// Live and simulated tell the same story: same schedule, same order of operations on every rank; only times differ.
#include <gtest/gtest.h>

#include "agreement/plans.hpp"
#include "agreement/story.hpp"
#include "analysis/analysis.hpp"
#include "executor/live/live.hpp"
#include "executor/sim/sim.hpp"
#include "machine/machine.hpp"
#include "pipeline.hpp"

namespace dlnb {
namespace {

using test::Tried;

class EveryPlan : public testing::TestWithParam<Tried> {};

Trace simulated(const Schedule& schedule, const RunSpec& spec) {
  const Machine machine = load_machine(spec.machine, "--machine");
  return simulate(schedule, machine, place(machine, spec.ranks, "linear", 1, "--ranks"), spec);
}

TEST_P(EveryPlan, RunsLiveAsItIsSimulated) {
  const RunSpec spec = test::spec_of(GetParam(), "threads");
  const Schedule schedule = make_schedule(spec);

  const std::optional<Trace> live = run_live(schedule, spec);

  ASSERT_TRUE(live);
  EXPECT_EQ(test::difference(schedule, *live, simulated(schedule, spec)), "");
}

TEST_P(EveryPlan, PartsOfAnIterationSumToIt) {
  const RunSpec spec = test::spec_of(GetParam(), "threads");
  const Schedule schedule = make_schedule(spec);

  for (const Metrics& metrics :
       {analyse(*run_live(schedule, spec), schedule), analyse(simulated(schedule, spec), schedule)})
    for (const IterationRow& row : metrics.iterations)
      EXPECT_EQ(row.slowest.compute + row.slowest.sync(), row.slowest.time);
}

INSTANTIATE_TEST_SUITE_P(Agreement, EveryPlan, testing::ValuesIn(test::tried_plans()),
                         [](const auto& tried) { return tried.param.name; });

/// Communication, and which part of what is waited is the bubble.
std::pair<double, double> bubble_of(const Trace& trace, const Schedule& schedule) {
  const Metrics metrics = analyse(trace, schedule);
  const auto value = [&](std::string_view name) {
    return std::ranges::find(metrics.named, name, &Metric::name)->value;
  };
  const double waited = value("transfer") + value("straggler_wait") + value("pipeline_bubble");
  return {value("communication_fraction"), value("pipeline_bubble") / waited};
}

// 7 of the 23 slots of an iteration are the bubble of 8 stages and 16 micro-batches; with empty messages that is all of
// the paper's "communication". Live phases have their full length, beside which a late wake-up is small. Another program on
// the machine may spoil a run, not three.
TEST(Bubble, OfEightStagesAndSixteenMicrobatches) {
  const Tried tried{"bubble", "llama2-7b", "dp+pp", {{"message_scale", "0"}, {"compute_scale", "1"}}};
  const RunSpec spec = test::spec_of(tried, "threads");
  const Schedule schedule = make_schedule(spec);

  const auto [communication, bubble] = bubble_of(simulated(schedule, spec), schedule);
  EXPECT_NEAR(communication, 7.0 / 23, 0.0005);
  EXPECT_GT(bubble, 0.9985);

  std::pair<double, double> live;
  for (int run = 0; run < 3; ++run) {
    live = bubble_of(*run_live(schedule, spec), schedule);
    if (std::abs(live.first - 7.0 / 23) < 0.005 && live.second > 0.985) break;
  }
  EXPECT_NEAR(live.first, 7.0 / 23, 0.005);
  EXPECT_GT(live.second, 0.985);
}

}  // namespace
}  // namespace dlnb
