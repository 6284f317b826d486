// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "support.hpp"

namespace dlnb {
namespace {

struct Expected {
  const char* name;
  std::int64_t parameters;
  std::int64_t tensors;
  friend void PrintTo(const Expected& e, std::ostream* out) { *out << e.name; }
};

// Tensors: per layer, then outside of the layers.
constexpr Expected table[] = {
    {"vit-b", 86'389'248, 12 * 16 + 8},
    {"vit-l", 304'351'232, 24 * 16 + 8},
    {"vit-h", 632'404'480, 32 * 16 + 8},
    {"gpt2-l", 774'030'080, 36 * 12 + 4},
    {"gpt2-xl", 1'557'611'200, 48 * 12 + 4},
    {"minerva-7b", 7'399'542'784, 32 * 9 + 3},
    {"llama3-8b", 8'030'261'248, 32 * 9 + 3},
    {"llama3-70b", 70'553'706'496, 80 * 9 + 3},
    {"mixtral-8x7b", 46'702'792'704, 32 * (7 + 8 * 3) + 3},
    {"llama2-7b", 6'738'415'616, 32 * 9 + 3},
    {"llama2-13b", 13'015'864'320, 40 * 9 + 3},
    {"llama2-70b", 68'976'648'192, 80 * 9 + 3},
    // 12d² + 13d per layer, two vocabularies, the last norm; d = 6144
    {"gpt-neox-20b", 44 * (12 * 6144LL * 6144 + 13 * 6144) + 2 * 50432LL * 6144 + 2 * 6144, 44 * 12 + 4},
    {"resnet-50", 25'557'032, 161},
    {"mobilenet-v1", 4'231'976, 83},
    {"vgg-16", 138'357'544, 32},
};

class ShippedModel : public testing::TestWithParam<Expected> {};

TEST_P(ShippedModel, HasItsPublishedSize) {
  const Model model = load_model(GetParam().name, "--model");

  EXPECT_EQ(model.parameters(), GetParam().parameters);
  EXPECT_EQ(model.tensors(), GetParam().tensors);
}

TEST_P(ShippedModel, SaysWhatItIsAndWhereItComesFrom) {
  const Model model = load_model(GetParam().name, "--model");

  EXPECT_EQ(model.name, GetParam().name);
  EXPECT_FALSE(model.summary.empty());
  EXPECT_FALSE(model.source.empty());
}

INSTANTIATE_TEST_SUITE_P(Table, ShippedModel, testing::ValuesIn(table));

TEST(ShippedModels, AreAllInTheTable) {
  std::vector<std::string> names;
  for (const Expected& row : table) names.emplace_back(row.name);
  std::sort(names.begin(), names.end());

  EXPECT_EQ(shipped_models(), names);
}

TEST(ShippedModels, GptNeoxHasAboutTwentyBillion) {
  EXPECT_NEAR(double(load_model("gpt-neox-20b", "--model").parameters()), 20.55e9, 0.01e9);
}

TEST(ShippedModels, MixtralKeepsWhatIsNotAnExpertApart) {
  const Model model = load_model("mixtral-8x7b", "--model");

  EXPECT_EQ(model.parameters() - model.expert_parameters(), 1'605'636'096);
  EXPECT_EQ(model.expert_parameters(), 32LL * 8 * 3 * 4096 * 14336);
}

TEST(ShippedModels, TransformersAlternateAttentionAndMlp) {
  const Model model = load_model("llama3-8b", "--model");

  ASSERT_EQ(model.parts.size(), 1 + 2 * 32 + 2);
  EXPECT_EQ(model.parts[0].kind, PartKind::embedding);
  for (int layer = 0; layer < 32; ++layer) {
    EXPECT_EQ(model.parts[std::size_t(1 + 2 * layer)].kind, PartKind::attention);
    EXPECT_EQ(model.parts[std::size_t(2 + 2 * layer)].kind, PartKind::mlp);
    EXPECT_EQ(model.parts[std::size_t(2 + 2 * layer)].layer, layer);
  }
  EXPECT_EQ(model.parts[65].kind, PartKind::norm);
  EXPECT_EQ(model.parts[66].kind, PartKind::head);
}

TEST(ShippedModels, VisionTransformersHaveOneTokenPerPatchAndTheClass) {
  EXPECT_EQ(load_model("vit-b", "--model").architecture.sequence, (224 / 16) * (224 / 16) + 1);
  EXPECT_EQ(load_model("vit-h", "--model").architecture.sequence, (224 / 14) * (224 / 14) + 1);
}

TEST(ShippedModels, ATiedHeadHasNoTensors) {
  EXPECT_TRUE(part_of(load_model("gpt2-xl", "--model"), PartKind::head).tensors.empty());
}

TEST(ShippedModels, TheFirstConvolutionShrinksTheImageAndPoolingAgain) {
  const Model resnet = load_model("resnet-50", "--model");

  const Part& stem = resnet.parts.front();

  EXPECT_EQ(stem.output_elements, 64 * 56 * 56);  // 224 → 112 → 56
  EXPECT_DOUBLE_EQ(stem.forward_flops, 2.0 * 112 * 112 * 64 * 3 * 7 * 7);
  EXPECT_EQ(stem.activation_elements, 3 * 224 * 224 + 64 * 112 * 112);
  EXPECT_EQ(resnet.parts[resnet.parts.size() - 2].output_elements, 2048 * 7 * 7);
}

// Published multiply-adds: MobileNets table 4 says 569 million; torchvision's tables 4.09 and 15.47 billion.
TEST(ShippedModels, ConvolutionalNetworksHaveTheirPublishedMultiplyAdds) {
  const auto multiply_adds = [](const char* name) {
    double flops = 0;
    for (const Part& part : load_model(name, "--model").parts) flops += part.forward_flops;
    return flops / 2;
  };

  EXPECT_NEAR(multiply_adds("mobilenet-v1"), 569e6, 0.5e6);
  EXPECT_NEAR(multiply_adds("resnet-50"), 4.09e9, 0.005e9);
  EXPECT_NEAR(multiply_adds("vgg-16"), 15.47e9, 0.005e9);
}

TEST(ShippedModels, AWrongNameIsAnsweredWithTheNearest) {
  EXPECT_NE(refusal_of("llama3-8").find("llama3-8b"), std::string::npos);
}

}  // namespace
}  // namespace dlnb
