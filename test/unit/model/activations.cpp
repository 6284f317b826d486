// SPDX-License-Identifier: Apache-2.0
#include "model/activations.hpp"

#include <gtest/gtest.h>

#include "support.hpp"

namespace dlnb {
namespace {

// GPT-2 L: d = 1280, H = 4d, 20 heads of 64.
constexpr double batch = 3, tokens = 1024, hidden = 1280, heads = 20;
Workload load_of(bool fused = true) {
  return {.samples = std::int64_t(batch), .sequence = std::int64_t(tokens), .fused_attention = fused};
}
double kept_by_a_layer(const Workload& load) {
  const Model model = load_model("gpt2-l", "--model");
  return activations_of(model, part_of(model, PartKind::attention, 0), load).kept +
         activations_of(model, part_of(model, PartKind::mlp, 0), load).kept;
}

// Korthikanti et al., equation 1: s·b·h·(34 + 5·a·s/h), of which 2·s·b·h are dropout masks behind attention and mlp.
TEST(Activations, OfALayerAreThoseOfThePaper) {
  EXPECT_DOUBLE_EQ(kept_by_a_layer(load_of(false)),
                   tokens * batch * hidden * (34 - 2 + 5 * heads * tokens / hidden));
}

// Equation 2: tensor parallelism alone leaves norms and residuals whole; equation 4: sequence parallelism cuts all.
TEST(Activations, AreCutAsThePaperSays) {
  Workload load = load_of(false);
  load.division = {.tensor = 4};
  EXPECT_DOUBLE_EQ(kept_by_a_layer(load),
                   tokens * batch * hidden * (8 + (34 - 10 + 5 * heads * tokens / hidden) / 4));
  load.division.sequence_parallel = load.division.regathers = true;
  EXPECT_DOUBLE_EQ(kept_by_a_layer(load), kept_by_a_layer(load_of(false)) / 4);
  // The gathered inputs of attention and mlp, where they are kept: 3/4 of each more.
  load.division.regathers = false;
  EXPECT_DOUBLE_EQ(kept_by_a_layer(load) - kept_by_a_layer(load_of(false)) / 4,
                   2 * tokens * batch * hidden * 2 * 3 / 4);
}

// Equation 6 and section 5: selective recomputation keeps no scores, full recomputation the layer's input alone.
TEST(Activations, OfRecomputationAreThoseOfThePaper) {
  Workload load = load_of(false);
  load.recompute = Recompute::selective;
  EXPECT_DOUBLE_EQ(kept_by_a_layer(load), tokens * batch * hidden * (34 - 2));
  load.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(kept_by_a_layer(load), tokens * batch * hidden * 2);
}

TEST(Activations, OfFusedAttentionKeepTwoSumsPerRowOfScores) {
  EXPECT_DOUBLE_EQ(kept_by_a_layer(load_of()), tokens * batch * (hidden * (34 - 2) + 4 * heads));
}

TEST(Activations, OfAGatedLayerAreFourTimesItsWidth) {
  const Model model = load_model("llama3-8b", "--model");

  const Activations mlp = activations_of(model, part_of(model, PartKind::mlp, 0), {1, 8192});

  EXPECT_DOUBLE_EQ(mlp.kept, 2.0 * 8192 * (2 * 4096 + 4 * 14336));
}

TEST(Activations, OfTheHeadAreItsLogitsInSixteenAndThirtyTwoBits) {
  const Model model = load_model("llama3-8b", "--model");
  Workload load{1, 8192};
  load.division = {.tensor = 8, .ends = true};

  const Activations head = activations_of(model, part_of(model, PartKind::head), load);

  EXPECT_DOUBLE_EQ(head.kept, 8192.0 * 128256 / 8 * (2 + 4));
  EXPECT_DOUBLE_EQ(head.working, head.kept);
}

TEST(Activations, OfALayerListAreEveryOutputOnce) {
  const Model model = load_model("vgg-16", "--model");
  double kept = 0, moved = 0;
  for (const Part& part : model.parts) {
    kept += activations_of(model, part, {4, 1}).kept;
    moved += double(part.activation_elements);
  }

  EXPECT_DOUBLE_EQ(kept, 4 * 2 * moved / 2);
}

}  // namespace
}  // namespace dlnb
