// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support.hpp"

namespace dlnb {
namespace {

std::string step_refusal(const char* model, const RunSpec& spec, std::int64_t microbatches = 1) {
  try {
    make_step(load_model(model, "--model"), round_device(), spec, microbatches);
  } catch (const UserError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}

TEST(MakeStep, CostsOneMicrobatch) {
  const Model model = load_model("llama3-8b", "--model");
  const RunSpec spec{.batch = 16};

  const Step step = make_step(model, device_of(312, 2.0), spec, 16);

  Cost forward;
  for (const Work& work : step.works) forward += work.forward;
  EXPECT_DOUBLE_EQ(16 * forward.work.value, 2111.06232532992e12);
  EXPECT_EQ(step.microbatch_tokens(), 8192);
  EXPECT_EQ(step.works[1].output_elements, 8192 * 4096);  // 67.1 MB in bf16
  EXPECT_EQ(step.works.size(), model.parts.size());
  EXPECT_EQ(step.parameters, 8'030'261'248);
}

TEST(MakeStep, TakesTheSequenceFromTheUserFirst) {
  const Step step = make_step(load_model("llama3-8b", "--model"), round_device(), {.sequence = 1000}, 1);

  EXPECT_EQ(step.sequence, 1000);
  EXPECT_EQ(step.works[1].output_elements, 16 * 1000 * 4096);
}

TEST(MakeStep, OfAnImageNetworkHandsOnItsOwnActivations) {
  const Step step = make_step(load_model("resnet-50", "--model"), round_device(), {.batch = 16}, 4);

  EXPECT_EQ(step.sequence, 1);
  EXPECT_EQ(step.works.front().output_elements, 4 * 64 * 56 * 56);
  EXPECT_EQ(step.works.back().output_elements, 4 * 1000);
}

TEST(MakeStep, KeepsElementTypesApart) {
  const Step step = make_step(load_model("vit-b", "--model"), round_device(),
                              {.dtype = DataType::bfloat16, .gradient_dtype = DataType::float32}, 1);

  EXPECT_EQ(step.activation_type, DataType::bfloat16);
  EXPECT_EQ(step.parameter_type, DataType::bfloat16);
  EXPECT_EQ(step.gradient_type, DataType::float32);
}

TEST(MakeStep, HasAnOptimizerInTheExactModelOnly) {
  const Model model = load_model("vit-b", "--model");

  EXPECT_EQ(make_step(model, round_device(), {}, 1).optimizer.time.value, 0);
  EXPECT_DOUBLE_EQ(make_step(model, round_device(), {.cost_model = "exact"}, 1).optimizer.memory_bytes,
                   28.0 * 86'389'248);
}

TEST(MakeStep, SaysThatADeviceHasNoEfficiencyCurve) {
  const Model model = load_model("vit-b", "--model");
  Device device = round_device();

  const Step without = make_step(model, device, {.cost_model = "exact"}, 1);
  device.efficiency.source = "measured here";
  const Step with = make_step(model, device, {.cost_model = "exact"}, 1);

  ASSERT_EQ(without.notes.size(), 1);
  EXPECT_NE(without.notes[0].find("datasheet peak"), std::string::npos);
  ASSERT_EQ(with.notes.size(), 1);
  EXPECT_NE(with.notes[0].find("measured here"), std::string::npos);
  EXPECT_TRUE(make_step(model, device, {}, 1).notes.empty());
}

TEST(MakeStep, SaysThatThePeakIsOfAnotherType) {
  const Step step = make_step(load_model("vit-b", "--model"), round_device(), {.dtype = DataType::float8}, 1);

  ASSERT_EQ(step.notes.size(), 1);
  EXPECT_NE(step.notes[0].find("float8"), std::string::npos);
}

TEST(MakeStep, RefusesABatchThatDoesNotDivide) {
  const std::string message = step_refusal("vit-b", {.batch = 16}, 5);

  EXPECT_NE(message.find("--batch"), std::string::npos);
  EXPECT_NE(message.find("multiple of 5"), std::string::npos);
}

TEST(MakeStep, RefusesAnEmptyBatch) {
  EXPECT_NE(step_refusal("vit-b", {.batch = 0}).find("--batch"), std::string::npos);
}

TEST(MakeStep, RefusesActivationsBeyondCounting) {
  EXPECT_NE(step_refusal("vit-b", {.batch = std::int64_t{1} << 60}).find("9007199254740992"),
            std::string::npos);
  EXPECT_NE(step_refusal("vit-b", {.batch = std::int64_t{1} << 40}).find("--batch"), std::string::npos);
}

TEST(MakeStep, RefusesMorePositionsThanWereLearned) {
  EXPECT_NE(step_refusal("gpt2-l", {.sequence = 1025}).find("at most 1024"), std::string::npos);
  EXPECT_EQ(step_refusal("gpt2-l", {.sequence = 512}), "");
}

TEST(MakeStep, RefusesASequenceForImages) {
  EXPECT_NE(step_refusal("vit-b", {.sequence = 512}).find("197 tokens"), std::string::npos);
  EXPECT_NE(step_refusal("resnet-50", {.sequence = 512}).find("--sequence"), std::string::npos);
}

TEST(MakeStep, RefusesANegativeSequence) {
  EXPECT_NE(step_refusal("llama3-8b", {.sequence = -1}).find("--sequence"), std::string::npos);
}

TEST(MakeStep, AnswersAWrongCostModelWithTheNames) {
  const std::string message = step_refusal("vit-b", {.cost_model = "exakt"});

  EXPECT_NE(message.find("--cost-model"), std::string::npos);
  EXPECT_NE(message.find("'exact'"), std::string::npos);
}

TEST(MakeStep, RefusesRecomputationInThePapersModel) {
  EXPECT_NE(step_refusal("vit-b", {.recompute = "full"}).find("--cost-model exact"), std::string::npos);
}

}  // namespace
}  // namespace dlnb
