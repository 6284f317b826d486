// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support.hpp"

namespace dlnb {
namespace {

struct Expected {
  const char* name;
  std::int64_t parameters;
  friend void PrintTo(const Expected& e, std::ostream* out) { *out << e.name; }
};

constexpr std::int64_t decoder(std::int64_t hidden, std::int64_t query, std::int64_t key,
                               std::int64_t feed_forward) {
  return hidden * (query + 2 * key) + query * hidden + 3 * hidden * feed_forward + 2 * hidden;
}
// Latent attention of deepseek: content and value heads of 128, rotary part of 64, rank 512 for keys and
// values.
constexpr std::int64_t latent(std::int64_t hidden, std::int64_t heads) {
  return hidden * (512 + 64) + 512 + 512 * heads * (128 + 128) + heads * 128 * hidden + 2 * hidden;
}
constexpr std::int64_t gated(std::int64_t hidden, std::int64_t feed_forward) {
  return 3 * hidden * feed_forward;
}

constexpr Expected configs[] = {
    {"small-llama", 4 * decoder(256, 256, 128, 512) + 2 * 1024 * 256 + 256},
    {"mistral", 7'241'732'096},
    {"mixtral", 46'702'792'704},
    {"gpt2", 124'439'808},
    {"gpt_neox", 12 * (12 * 768 * 768 + 13 * 768) + 2 * 50304 * 768 + 2 * 768},
    {"vit", 86'389'248},
    {"vit-classifier", 86'389'248 - (768 * 768 + 768) + 10 * (768 + 1)},
    {"qwen2", 24 * (decoder(896, 896, 128, 4864) + 896 + 2 * 128) + 151936 * 896 + 896},
    {"qwen2_moe", 24 * (decoder(2048, 2048, 2048, 60 * 1408 + 5632) + 3 * 2048 + 60 * 2048 + 2048) +
                      2 * 151936LL * 2048 + 2048},
    {"qwen3", 28 * (decoder(1024, 2048, 1024, 3072) + 2 * 128) + 151936 * 1024 + 1024},
    {"qwen3_moe",
     48 * (decoder(2048, 4096, 512, 128 * 768) + 2 * 128 + 128 * 2048) + 2 * 151936LL * 2048 + 2048},
    {"deepseek_v2", 27 * (latent(2048, 16) + 2048 * 16 * 192) + gated(2048, 10944) +
                        26 * (gated(2048, 66 * 1408) + 64 * 2048) + 2 * 102400LL * 2048 + 2048},
    {"deepseek_v3", 61 * (latent(7168, 128) + 7168 * 1536 + 1536 + 1536LL * 128 * 192) +
                        3 * gated(7168, 18432) + 58 * (gated(7168, 257 * 2048) + 256LL * 7168) +
                        2 * 129280LL * 7168 + 7168},
};

class HuggingFaceConfig : public testing::TestWithParam<Expected> {};

TEST_P(HuggingFaceConfig, GivesTheModelsTensors) {
  const Model model = load_model(fixture(GetParam().name), "--model");

  EXPECT_EQ(model.parameters(), GetParam().parameters);
  EXPECT_EQ(model.name, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, HuggingFaceConfig, testing::ValuesIn(configs));

// The sums above agree with the sizes the publishers state.
TEST(HuggingFaceConfigs, AgreeWithPublishedSizes) {
  const auto size_of_config = [](const char* name) {
    return load_model(fixture(name), "--model").parameters();
  };

  EXPECT_EQ(size_of_config("gpt_neox"), 162'322'944);        // Pythia 160M
  EXPECT_EQ(size_of_config("qwen2"), 494'032'768);           // Qwen2 0.5B
  EXPECT_EQ(size_of_config("qwen3"), 596'049'920);           // Qwen3 0.6B
  EXPECT_EQ(size_of_config("qwen3_moe"), 30'532'122'624);    // Qwen3 30B-A3B
  EXPECT_EQ(size_of_config("qwen2_moe"), 14'315'784'192);    // Qwen1.5 MoE A2.7B
  EXPECT_EQ(size_of_config("deepseek_v2"), 15'706'484'224);  // DeepSeek-V2-Lite
  EXPECT_NEAR(double(size_of_config("deepseek_v3")), 671e9, 0.1e9);
}

// What PyTorch registered for the recorded small Llama (test/golden of the frameworks' collectives).
TEST(HuggingFaceConfigs, TheSmallLlamaRegistersInTheRecordedOrder) {
  const Model model = load_model(fixture("small-llama"), "--model");

  std::vector<std::string> names;
  std::vector<std::int64_t> sizes;
  for (PartKind kind : {PartKind::attention, PartKind::mlp})
    for (const Tensor& tensor : part_of(model, kind, 3).tensors) {
      names.push_back(tensor.name);
      sizes.push_back(tensor.elements());
    }

  EXPECT_EQ(names, (std::vector<std::string>{"norm.weight", "q.weight", "k.weight", "v.weight", "o.weight",
                                             "norm.weight", "gate.weight", "up.weight", "down.weight"}));
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{256, 256 * 256, 128 * 256, 128 * 256, 256 * 256, 256, 512 * 256,
                                              512 * 256, 512 * 256}));
  EXPECT_EQ(part_of(model, PartKind::attention, 0).elements() + part_of(model, PartKind::mlp, 0).elements(),
            590'336);
  EXPECT_EQ(part_of(model, PartKind::embedding).elements(), 262'144);
  EXPECT_EQ(part_of(model, PartKind::norm).elements(), 256);
  EXPECT_EQ(part_of(model, PartKind::head).elements(), 262'144);
}

TEST(HuggingFaceConfigs, CutColumnsOfOutputProjectionsAndRowsOfTheRest) {
  const Model model = load_model(fixture("small-llama"), "--model");

  std::vector<Cut> cuts;
  for (PartKind kind : {PartKind::attention, PartKind::mlp})
    for (const Tensor& tensor : part_of(model, kind, 0).tensors) cuts.push_back(tensor.cut);

  using enum Cut;
  EXPECT_EQ(cuts, (std::vector{none, rows, rows, rows, columns, none, rows, rows, columns}));
  EXPECT_EQ(part_of(model, PartKind::embedding).tensors[0].cut, rows);
  EXPECT_EQ(part_of(model, PartKind::head).tensors[0].cut, rows);
}

TEST(HuggingFaceConfigs, ABiasIsCutWithTheRowsItBelongsTo) {
  const Model model = load_model(fixture("gpt2"), "--model");

  for (const Tensor& tensor : part_of(model, PartKind::attention, 0).tensors) {
    if (tensor.columns > 1) continue;
    EXPECT_EQ(tensor.cut, tensor.name == "qkv.bias" ? Cut::rows : Cut::none) << tensor.name;
  }
}

TEST(HuggingFaceConfigs, ExpertsAreCopiesAndTheRouterIsShared) {
  const Model model = load_model(fixture("mixtral"), "--model");

  const Part& mlp = part_of(model, PartKind::mlp, 0);

  EXPECT_EQ(mlp.tensors[1].name, "router.weight");
  EXPECT_FALSE(mlp.tensors[1].expert);
  for (std::size_t i = 2; i < 5; ++i) {
    EXPECT_TRUE(mlp.tensors[i].expert);
    EXPECT_EQ(mlp.tensors[i].copies, 8);
  }
}

TEST(HuggingFaceConfigs, FirstLayersOfDeepseekAreDense) {
  const Model model = load_model(fixture("deepseek_v3"), "--model");

  EXPECT_EQ(part_of(model, PartKind::mlp, 2).elements(), 7168 + gated(7168, 18432));
  EXPECT_EQ(part_of(model, PartKind::mlp, 3).elements(), 7168 + gated(7168, 257 * 2048) + 256 * 7168);
}

TEST(HuggingFaceConfigs, TheWindowOfMistralIsKept) {
  EXPECT_EQ(load_model(fixture("mistral"), "--model").architecture.window, 4096);
  EXPECT_EQ(load_model(fixture("mixtral"), "--model").architecture.window, 0);
}

constexpr const char* llama = R"("hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
  "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 32)";

TEST(HuggingFaceConfigs, ACheckpointIsCalledAfterItsFolder) {
  const TemporaryFile file("config.json", std::string(R"({"model_type": "llama", )") + llama + "}");

  EXPECT_EQ(load_model(file.path(), "--model").name, file.folder().filename());
  EXPECT_EQ(load_model(file.folder().string() + "/", "--model").parameters(),
            load_model(file.path(), "--model").parameters());
}

TEST(HuggingFaceConfigs, TheArchitectureDecidesWhereNoModelTypeIsWritten) {
  const TemporaryFile file("a.json",
                           std::string(R"({"architectures": ["Qwen2ForCausalLM"], )") + llama + "}");

  EXPECT_EQ(part_of(load_model(file.path(), "--model"), PartKind::attention, 0).tensors[2].name, "q.bias");
}

TEST(HuggingFaceConfigs, TiedEmbeddingsLeaveTheHeadEmpty) {
  const TemporaryFile file(
      "a.json", std::string(R"({"model_type": "llama", "tie_word_embeddings": true, )") + llama + "}");

  EXPECT_TRUE(part_of(load_model(file.path(), "--model"), PartKind::head).tensors.empty());
}

TEST(HuggingFaceConfigs, BiasesOfALlamaAreAddedWhereTheyAreAskedFor) {
  const TemporaryFile plain("a.json", std::string(R"({"model_type": "llama", )") + llama + "}");
  const TemporaryFile biased(
      "a.json",
      std::string(R"({"model_type": "llama", "attention_bias": true, "mlp_bias": true, )") + llama + "}");

  const std::int64_t added =
      load_model(biased.path(), "--model").parameters() - load_model(plain.path(), "--model").parameters();

  EXPECT_EQ(added, 2 * (4 * 64 + 2 * 128 + 64));  // q, k, v, o; gate, up, down
}

}  // namespace
}  // namespace dlnb
