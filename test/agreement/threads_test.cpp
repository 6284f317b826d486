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

// 7 of the 23 slots of an iteration are the bubble of 8 stages and 16 micro-batches; with empty messages that is all of
// the paper's "communication". Live phases have their full length, beside which a late wake-up is small; of what is waited,
// late wake-ups of eight threads on two cores are up to 2 %.
TEST(Bubble, OfEightStagesAndSixteenMicrobatches) {
  const Tried tried{"bubble", "llama2-7b", "dp+pp", {{"message_scale", "0"}, {"compute_scale", "1"}}};
  const RunSpec spec = test::spec_of(tried, "threads");
  const Schedule schedule = make_schedule(spec);

  for (const auto& [trace, margin] :
       {std::pair{simulated(schedule, spec), 0.0005}, std::pair{*run_live(schedule, spec), 0.005}}) {
    const Metrics metrics = analyse(trace, schedule);
    const auto value = [&](std::string_view name) {
      return std::ranges::find(metrics.named, name, &Metric::name)->value;
    };
    EXPECT_NEAR(value("communication_fraction"), 7.0 / 23, margin) << trace.executor;
    const double waited = value("transfer") + value("straggler_wait") + value("pipeline_bubble");
    EXPECT_GT(value("pipeline_bubble") / waited, 1 - 6 * margin) << trace.executor;
  }
}

}  // namespace
}  // namespace dlnb
