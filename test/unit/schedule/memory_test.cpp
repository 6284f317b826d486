// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <dlnb/error.hpp>

#include "schedule/pass.hpp"
#include "unit/schedule/small_step.hpp"

namespace dlnb {
namespace {

using test::compiled;

// Attention and mlp keep 10 bytes per micro-batch and need 3 besides in the backward pass.
Schedule with_activations(const std::string& toml, std::int64_t ranks) {
  const PlanSpec plan = test::plan_of(toml);
  Step step = test::small_step({.microbatches = microbatches_of(plan)});
  step.price = [](const Division&, std::vector<Work>& works) {
    for (Work& work : works)
      if (work.part.layer >= 0) work.kept_bytes = 10, work.working_bytes = 3;
  };
  return compile(step, plan, ranks);
}

double activations(const Schedule& s, std::size_t role) { return s.programs[role].memory.activations; }

TEST(Memory, OfOneMicrobatchIsEverythingKeptWhenItsBackwardPassBegins) {
  EXPECT_EQ(activations(with_activations("data = 2", 2), 0), 8 * 10 + 3);
}

TEST(Memory, AStageOf1f1bHoldsTheMicrobatchesUnderWay) {
  const Schedule s =
      with_activations("pipeline = {stages = 4, microbatches = 8, schedule = '1f1b'}\ndata = 1", 4);

  for (std::size_t stage = 0; stage < 4; ++stage)  // one layer each: 20 bytes
    EXPECT_EQ(activations(s, stage), double(4 - stage) * 20 + 3);
}

TEST(Memory, AStageOfGpipeHoldsAllMicrobatches) {
  const Schedule s = with_activations("pipeline = {stages = 4, microbatches = 8}\ndata = 1", 4);

  for (std::size_t stage = 0; stage < 4; ++stage) EXPECT_EQ(activations(s, stage), 8 * 20 + 3);
}

// Where gradients are reduced between the pieces of a part, the pieces keep what the part keeps.
TEST(Memory, DoesNotCountTheCutsOfBuckets) {
  EXPECT_EQ(activations(with_activations("data = {degree = 2, bucket = 64, first_bucket = 64}", 2), 0),
            8 * 10 + 3);
}

TEST(Memory, ShardsWhatThePlanShards) {
  const double all = double(test::small_step().parameters);
  const auto of = [](const std::string& plan) { return compiled(plan, 4).programs[0].memory; };

  const Memory whole = of("data = 4");
  EXPECT_EQ(whole.parameters, all * 2);
  EXPECT_EQ(whole.gradients, all * 2);
  EXPECT_EQ(whole.optimizer, all * 12);
  const Memory one = of("data = {degree = 4, zero = 1}");
  EXPECT_EQ(one.parameters, all * 2);
  EXPECT_EQ(one.gradients, all * 2);
  EXPECT_EQ(one.optimizer, all * 12 / 4);
  const Memory two = of("data = {degree = 4, zero = 2}");
  EXPECT_EQ(two.parameters, all * 2);
  EXPECT_EQ(two.gradients, all * 2 / 4);
  const Memory three = of("fsdp = 4");
  EXPECT_EQ(three.parameters, all * 2 / 4);
  EXPECT_EQ(three.gradients, all * 2 / 4);
  EXPECT_EQ(three.optimizer, all * 12 / 4);
  EXPECT_EQ(three.buffers > 0, true);
  EXPECT_EQ(whole.buffers, 0);
}

TEST(Memory, TheOptimizerUpdatesTheShareThatARankKeeps) {
  const PlanSpec plan = test::plan_of("data = {degree = 4, zero = 1}");
  Step step = test::small_step();
  step.optimizer = {{0}, 0, Seconds{1}};
  const Schedule s = compile(step, plan, 4);
  double update = 0;
  for (const Operation& op : s.programs[0].operations)
    if (op.phase == Phase::optimise) update += op.cost.time.value;

  EXPECT_NEAR(update, 0.25, 1e-12);
}

// Root and two layers at a time, and in the backward pass two layers' gradients: the layers and the root's
// 32·8 + 8 + 32·8 elements of 2 bytes.
TEST(Memory, OfGatheredUnitsIsTheRootAndTwoLayers) {
  const double layer = 8 + 8 * 8 + 2 * 4 * 8 + 8 * 8 + 8 + 3 * 16 * 8, root = 2 * 32 * 8 + 8;

  const Memory memory = compiled("fsdp = 4", 4).programs[0].memory;

  EXPECT_EQ(memory.buffers, 2 * (root + 2 * layer + 2 * layer));
}

// With several micro-batches gradients stay whole until the last one, unless each is scattered.
TEST(Memory, ScatteringEveryMicrobatchKeepsGradientsSmall) {
  const std::string pipeline = "\npipeline = {stages = 1, microbatches = 4, schedule = '1f1b'}";
  const Schedule once = compiled("fsdp = 4" + pipeline, 4);
  const Schedule every = compiled("fsdp = {degree = 4, every_microbatch = true}" + pipeline, 4);

  EXPECT_GT(once.programs[0].memory.buffers, every.programs[0].memory.buffers);
  const std::int64_t units = 4 + 1;
  EXPECT_EQ(test::count(once, 0, OperationKind::reduce_scatter, "fsdp"), units);
  EXPECT_EQ(test::count(every, 0, OperationKind::reduce_scatter, "fsdp"), 4 * units);
}

TEST(Tensor, ALossOnCutLogitsGathersNone) {
  const Schedule s = compiled("tensor = {degree = 2, loss_parallel = true}", 2);
  const std::int64_t tokens = 8 * 4;
  std::vector<std::int64_t> sums;
  for (const Operation& op : s.programs[0].operations) {
    EXPECT_NE(op.kind, OperationKind::all_gather);
    if (op.kind == OperationKind::all_reduce && op.dtype == DataType::float32)
      sums.push_back(op.elements_sent);
  }

  EXPECT_EQ(sums, std::vector<std::int64_t>{3 * tokens});
  // Forward: embedding, four times attention and mlp, the loss; backward: head and the eight parts.
  EXPECT_EQ(test::count(s, 0, OperationKind::all_reduce, "tensor"), 10 + 9);
}

// Attention and mlp of four layers, once more each; the head's output is not cut along the sequence.
TEST(Tensor, InputsThatAreNotKeptAreGatheredAgain) {
  const auto gathers = [](const std::string& more) {
    return test::count(
        compiled("tensor = {degree = 2, sequence_parallel = true, loss_parallel = true" + more + "}", 2), 0,
        OperationKind::all_gather, "tensor");
  };

  EXPECT_EQ(gathers(", regather = true") - gathers(""), 8 + 1);
  EXPECT_THROW(compiled("tensor = {degree = 2, regather = true}", 2), UserError);
}

// A layer's matrices have 8·8 + 2·4·8 + 8·8 + 3·16·8 = 576 elements, the head 256: of 4·576 + 256 = 2560 half is 1280,
// which three layers exceed; the last stage has one layer and the head.
TEST(Pipeline, SplitByCostTheLastStageHasFewerLayersAndTheHead) {
  const Schedule s = compiled("pipeline = {stages = 2, microbatches = 2, split = 'cost'}\ndata = 1", 2);
  const std::int64_t layer = 576 + 2 * 8;

  EXPECT_EQ(s.programs[0].held_parameters, 3 * layer + 32 * 8);
  EXPECT_EQ(s.programs[1].held_parameters, layer + 8 + 32 * 8);
}

TEST(Pipeline, SplitByCostRefusesStagesWithoutLayers) {
  EXPECT_THROW(compiled("pipeline = {stages = 7, microbatches = 2, split = 'cost'}\ndata = 1", 7), UserError);
}

}  // namespace
}  // namespace dlnb
