// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "schedule/pass.hpp"
#include "unit/schedule/small_step.hpp"

namespace dlnb {
namespace {

using test::compiled;
using test::count;
using enum OperationKind;

std::vector<std::int64_t> sizes(const Schedule& s, OperationKind kind, std::size_t role = 0) {
  std::vector<std::int64_t> sizes;
  for (const Operation& op : s.programs[role].operations)
    if (op.kind == kind) sizes.push_back(message_elements(op, s.grid.size(op.axes)));
  return sizes;
}

double seconds(const Schedule& s, std::size_t role = 0) {
  double total = 0;
  for (const Operation& op : s.programs[role].operations) total += op.cost.time.value;
  return total;
}

std::string message(auto&& act) {
  try {
    act();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// 4 layers, attention and mlp 1 s forward and 2 s backward: 24 s.
TEST(Data, BucketsDifferByAtMostOneElementAndSumToTheWhole) {
  const Schedule s = compiled("data = {degree = 4, buckets = 7}", 4, Flavour::paper);
  const std::vector<std::int64_t> buckets = sizes(s, all_reduce);

  EXPECT_EQ(buckets.size(), 7u);
  EXPECT_LE(std::ranges::max(buckets) - std::ranges::min(buckets), 1);
  EXPECT_EQ(std::accumulate(buckets.begin(), buckets.end(), std::int64_t{0}), test::small_step().parameters);
  EXPECT_NEAR(seconds(s), 24, 1e-9);
}

TEST(Data, EqualSlicesOfTheBackwardPassLieBetweenBuckets) {
  const Schedule s = compiled("data = {degree = 4, buckets = 5}", 4, Flavour::paper);

  for (const Operation& op : s.programs[0].operations)
    if (op.kind == compute && op.phase == Phase::backward) {
      EXPECT_NEAR(op.cost.time.value, 16.0 / 5, 1e-9);
    }
}

TEST(Data, OneReplicaReducesNothing) {
  for (const Flavour flavour : {Flavour::paper, Flavour::pytorch})
    EXPECT_EQ(count(compiled("data = 1", 1, flavour), 0, all_reduce, "data"), 0);
}

TEST(Data, BucketsFillFromTheLastParameter) {
  // bf16: head 512 B closes the first bucket of 512 B; norm 16 + down 256 + up 256 B = 528 B the second.
  const Schedule s = compiled("data = {degree = 2, bucket = 512}", 2);
  const std::vector<std::int64_t> buckets = sizes(s, all_reduce);

  EXPECT_EQ(buckets[0], 32 * 8);
  EXPECT_EQ(buckets[1], 8 + 8 * 16 + 16 * 8);
}

TEST(Data, ZeroTwoScattersGradientsAndGathersParameters) {
  const Schedule s = compiled("data = {degree = 4, zero = 2}", 4);

  EXPECT_EQ(count(s, 0, all_reduce, "data"), 0);
  EXPECT_EQ(count(s, 0, reduce_scatter, "data"), count(s, 0, all_gather, "data"));
  EXPECT_GT(count(s, 0, all_gather, "data"), 0);
}

TEST(Tensor, DividesComputeAndSumsActivations) {
  const Schedule s = compiled("tensor = 2", 2);

  EXPECT_NEAR(seconds(s), 24.0 / 2, 1e-9);
  EXPECT_EQ(count(s, 0, all_reduce, "tensor"), 4 * 2 * 2);
  EXPECT_EQ(sizes(s, all_reduce)[0], 8 * 4 * 8);  // samples · tokens · hidden
}

TEST(Tensor, ThePapersVolumeIsTheShareOfOneRank) {
  EXPECT_EQ(sizes(compiled("tensor = 2", 2, Flavour::paper), all_reduce)[0], 8 * 4 * 8 / 2);
  EXPECT_EQ(sizes(compiled("tensor = {degree = 2, volume = \"megatron\"}", 2, Flavour::paper), all_reduce)[0],
            8 * 4 * 8);
}

TEST(Tensor, RefusesHeadsThatDoNotDivide) {
  EXPECT_THAT(message([] { compiled("tensor = 8", 8); }),
              testing::HasSubstr("plan.tensor: 4 attention heads"));
}

TEST(Context, SharesTokensAndSumsGradientsOverItsAxis) {
  const Schedule s = compiled("context = 2\ndata = 2", 4);

  EXPECT_NEAR(seconds(s), 24.0 / 2, 1e-9);
  EXPECT_EQ(sizes(s, all_gather)[0], 8 * 4 / 2 * 2 * 2 * 2);  // local tokens · k and v · kv heads · head size
  EXPECT_EQ(count(s, 0, all_reduce, "world"), 1);             // context and data are all axes
}

TEST(Expert, SendsTwoActiveExpertsPerToken) {
  const Schedule s = compiled("expert = 4", 4, Flavour::pytorch, {.experts = 4});

  EXPECT_EQ(count(s, 0, all_to_all, "expert"), 4 * 2 * 2);
  EXPECT_EQ(sizes(s, all_to_all)[0],
            8 * 4 * 8 * 2 / 4);  // samples · tokens · hidden · 2, a quarter to each peer
  EXPECT_EQ(s.global_batch, 8 * 4);
}

TEST(Expert, ReducesDenseGradientsOverMoreRanksThanExperts) {
  const Schedule s = compiled("expert = 2\ndata = 2", 4, Flavour::pytorch, {.experts = 4});

  EXPECT_GT(count(s, 0, all_reduce, "world"), 0);  // dense: expert and data
  EXPECT_GT(count(s, 0, all_reduce, "data"), 0);   // experts: data only
}

TEST(Expert, RefusesAModelWithoutExperts) {
  EXPECT_THAT(message([] { compiled("expert = 2", 2); }), testing::HasSubstr("has no experts"));
}

TEST(Fsdp, CountsThePaddingThatMakesShardsEqual) {
  const Schedule s = compiled("fsdp = {degree = 7, units = 3}", 7, Flavour::paper);
  std::int64_t whole = 0;
  for (const Operation& op : s.programs[0].operations)
    if (op.kind == reduce_scatter) whole += op.elements_sent - op.padding;

  EXPECT_EQ(whole, test::small_step().parameters);
}

TEST(Fsdp, PadsTensorsRowByRow) {
  // 3 ranks: attention norm 8 → 3, q 8x8 → 3·8, k and v 4x8 → 2·8 each, o → 24; mlp norm 3, gate and up 16x8 → 6·8
  // each, down 8x16 → 3·16.
  const Schedule s = compiled("fsdp = 3", 3);
  const std::int64_t layer = 3 + 24 + 16 + 16 + 24 + 3 + 48 + 48 + 48;

  EXPECT_EQ(sizes(s, all_gather)[1], layer);
}

TEST(Fsdp, GathersOnceWithoutResharding) {
  const Schedule s = compiled("fsdp = {degree = 2, reshard_after_forward = false}", 2);

  EXPECT_EQ(count(s, 0, all_gather, "fsdp"), 4 + 1);
  EXPECT_EQ(count(s, 0, reduce_scatter, "fsdp"), 4 + 1);
}

TEST(Fsdp, ReducesOnlyBehindTheLastMicrobatch) {
  const Schedule s = compiled("fsdp = 2\npipeline = {stages = 2, microbatches = 4}", 4);

  EXPECT_EQ(count(s, 0, reduce_scatter, "fsdp"), 2 + 1);  // two layers and the root
}

TEST(Pipeline, GivesEmbeddingToTheFirstAndHeadToTheLastStage) {
  const Schedule s = compiled("pipeline = {stages = 4, microbatches = 4}", 4);
  const std::int64_t layer = 8 + 64 + 32 + 32 + 64 + 8 + 3 * 128;

  EXPECT_EQ(s.programs[0].held_parameters, layer + 256);
  EXPECT_EQ(s.programs[1].held_parameters, layer);
  EXPECT_EQ(s.programs[3].held_parameters, layer + 8 + 256);
}

TEST(Pipeline, SaysThatATiedEmbeddingIsNotSynchronised) {
  Step step = test::small_step({.microbatches = 2});
  const PlanSpec plan = test::plan_of("pipeline = {stages = 2, microbatches = 2}");
  EXPECT_TRUE(compile(step, plan, 2).notes.empty());
  step.works.back().part.tensors.clear();

  const Schedule tied = compile(step, plan, 2);

  ASSERT_EQ(tied.notes.size(), 1u);
  EXPECT_THAT(tied.notes[0], testing::HasSubstr("the head shares the embedding's weights"));
}

TEST(Pipeline, RefusesLayersThatDoNotDivide) {
  EXPECT_THAT(message([] { compiled("pipeline = {stages = 3, microbatches = 3}", 3); }),
              testing::HasSubstr("plan.pipeline: 4 layers of 'small' do not divide into 3 stages"));
}

TEST(Plan, ComposesItsAxesFastestFirst) {
  const Schedule s =
      compiled("data = \"rest\"\ntensor = 2\npipeline = {stages = 2, microbatches = 2}\nfsdp = 2", 16);

  std::string axes;
  for (const Axis& axis : s.grid.axes()) axes += axis.name + "=" + std::to_string(axis.size) + " ";
  EXPECT_EQ(axes, "tensor=2 fsdp=2 pipeline=2 data=2 ");
}

TEST(Plan, RefusesRanksThatDoNotFit) {
  EXPECT_THAT(message([] { compiled("tensor = 2\ndata = \"rest\"", 7); }),
              testing::HasSubstr("7 ranks do not fit the plan (tensor 2)"));
  EXPECT_THAT(message([] { compiled("tensor = 2", 4); }),
              testing::HasSubstr("4 ranks do not fit the plan (tensor 2)"));
}

TEST(Plan, NamesTheLineOfAnUnknownPass) {
  EXPECT_THAT(
      message([] { compiled("data = 2\npipelin = 2", 4); }),
      testing::AllOf(testing::HasSubstr("plan.toml:2"), testing::HasSubstr("nothing is called 'pipelin'")));
}

TEST(Scale, KeepsOperationsAndTheirShape) {
  const Schedule whole = compiled("fsdp = 2\ndata = 2", 4);
  const Schedule tiny = scaled(whole, 1e-6, 0.5);
  const Schedule empty = scaled(whole, 0, 0);

  EXPECT_EQ(tiny.programs[0].operations.size(), whole.programs[0].operations.size());
  EXPECT_TRUE(check(tiny).empty());
  EXPECT_TRUE(check(empty).empty());
  EXPECT_EQ(sizes(tiny, all_gather)[0], 1);
  EXPECT_EQ(sizes(empty, all_gather)[0], 0);
  EXPECT_NEAR(seconds(tiny), seconds(whole) / 2, 1e-9);
}

TEST(Ledger, AddsUpWhatARankMoves) {
  const Schedule s = compiled("tensor = 2\ndata = 2", 4);
  std::int64_t activations = 0, gradients = 0;
  for (const LedgerRow& row : ledger_of(s)) {
    if (row.axis == "tensor") activations += row.bytes_total;
    if (row.axis == "data") gradients += row.bytes_total;
  }

  EXPECT_EQ(activations, 4 * 2 * 2 * (8 * 4 * 8) * 2);
  EXPECT_EQ(gradients, s.programs[0].held_parameters * 2);
}

// What every pass must satisfy alone, and any two together.
class EveryPass : public testing::TestWithParam<const Pass*> {};

TEST_P(EveryPass, IsSoundAloneAndWithEveryOther) {
  for (const Flavour flavour : {Flavour::paper, Flavour::pytorch})
    for (const Pass* other : passes::all()) {
      const std::string mine = std::string(GetParam()->name) + " = 2";
      const std::string plan = other == GetParam() ? mine : mine + "\n" + std::string(other->name) + " = 2";
      const std::int64_t ranks = other == GetParam() ? 2 : 4;
      const bool needs_data = plan.find("data") == std::string::npos;

      const Schedule s = compiled(needs_data ? plan + "\ndata = \"rest\"" : plan,
                                  ranks * (needs_data ? 2 : 1), flavour, {.experts = 4});

      EXPECT_TRUE(check(s).empty()) << plan;
      EXPECT_FALSE(ledger_of(s).empty()) << plan;
    }
}

TEST_P(EveryPass, OfDegreeOneChangesNothing) {
  const Schedule plain = compiled("data = 2", 2, Flavour::pytorch, {.experts = 4});
  const std::string name(GetParam()->name);
  if (name == "data") return;

  const Schedule with = compiled("data = 2\n" + name + " = 1", 2, Flavour::pytorch, {.experts = 4});

  ASSERT_EQ(with.programs.size(), 1u);
  ASSERT_EQ(with.programs[0].operations.size(), plain.programs[0].operations.size());
  EXPECT_NEAR(seconds(with), seconds(plain), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Passes, EveryPass, testing::ValuesIn(passes::all().begin(), passes::all().end()),
                         [](const auto& pass) { return std::string(pass.param->name); });

}  // namespace
}  // namespace dlnb
