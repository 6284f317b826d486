// SPDX-License-Identifier: Apache-2.0
// Every mistake in a model file is a UserError that names the file, the key and what would be right.
#include <gtest/gtest.h>

#include "support.hpp"

namespace dlnb {
namespace {

struct Mistake {
  const char* title;
  const char* text;
  const char* says[2];  // what the message holds besides the file's name
  friend void PrintTo(const Mistake& m, std::ostream* out) { *out << m.title; }
};

class JsonMistake : public testing::TestWithParam<Mistake> {};
class TomlMistake : public testing::TestWithParam<Mistake> {};

void expect_refusal(const Mistake& mistake, const char* name) {
  const TemporaryFile file(name, mistake.text);

  const std::string message = refusal_of(file.path());

  EXPECT_NE(message.find(name), std::string::npos) << message;
  for (const char* part : mistake.says) EXPECT_NE(message.find(part), std::string::npos) << message;
}

#define SIZES(heads, kv, head_dim)                                                                    \
  "\"hidden_size\": 64, \"num_hidden_layers\": 2, \"intermediate_size\": 128, \"vocab_size\": 100, "  \
  "\"max_position_embeddings\": 32, \"num_attention_heads\": " heads ", \"num_key_value_heads\": " kv \
  ", "                                                                                                \
  "\"head_dim\": " head_dim
#define GOOD SIZES("4", "2", "null")

constexpr Mistake json_mistakes[] = {
    {"NotATable", "[1, 2]", {"expected", "table"}},
    {"Syntax", "{\"model_type\": ", {":1", ""}},
    {"NoModelType", "{" GOOD "}", {"model_type", "llama"}},
    {"UnknownModelType", "{\"model_type\": \"lama\", " GOOD "}", {"lama", "llama"}},
    {"ModelTypeIsANumber", "{\"model_type\": 3, " GOOD "}", {"model_type", "expected"}},
    {"UnknownArchitecture",
     "{\"architectures\": [\"LlamaForCausalLn\"], " GOOD "}",
     {"architectures", "LlamaForCausalLM"}},
    {"ArchitectureWithAnotherHead",
     "{\"model_type\": \"llama\", \"architectures\": [\"LlamaForSequenceClassification\"], " GOOD "}",
     {"architectures", "LlamaForCausalLM"}},
    {"NoArchitecture",
     "{\"model_type\": \"llama\", \"architectures\": [], " GOOD "}",
     {"architectures", "one class"}},
    {"ArchitecturesIsAWord",
     "{\"model_type\": \"llama\", \"architectures\": \"x\", " GOOD "}",
     {"architectures", "expected a list"}},
    {"MissingHidden", "{\"model_type\": \"llama\", \"num_hidden_layers\": 2}", {"hidden_size", "missing"}},
    {"MissingLayers", "{\"model_type\": \"llama\", \"hidden_size\": 2}", {"num_hidden_layers", "missing"}},
    {"NullLayers",
     "{\"model_type\": \"llama\", \"num_hidden_layers\": null}",
     {"num_hidden_layers", "missing"}},
    {"TextLayers",
     "{\"model_type\": \"llama\", \"num_hidden_layers\": \"two\"}",
     {"num_hidden_layers", "expected"}},
    {"FractionLayers",
     "{\"model_type\": \"llama\", \"num_hidden_layers\": 2.5}",
     {"num_hidden_layers", "integer"}},
    {"NegativeLayers", "{\"model_type\": \"llama\", \"num_hidden_layers\": -2}", {"num_hidden_layers", "-2"}},
    {"ZeroLayers", "{\"model_type\": \"llama\", \"num_hidden_layers\": 0}", {"num_hidden_layers", "1"}},
    {"TooManyLayers",
     "{\"model_type\": \"llama\", \"num_hidden_layers\": 100001}",
     {"num_hidden_layers", "100001"}},
    {"HugeLayers",
     "{\"model_type\": \"llama\", \"num_hidden_layers\": 99999999999999999999}",
     {"num_hidden_layers", "expected"}},
    {"HugeHidden",
     "{\"model_type\": \"llama\", \"num_hidden_layers\": 1, \"hidden_size\": 10000001}",
     {"hidden_size", "10000001"}},
    {"NotANumber", "{\"model_type\": \"llama\", \"num_hidden_layers\": NaN}", {":1", ""}},
    {"HeadsDoNotDivideHidden",
     "{\"model_type\": \"llama\", " SIZES("5", "5", "null") "}",
     {"num_attention_heads", "64"}},
    {"KvHeadsDoNotDivideHeads",
     "{\"model_type\": \"llama\", " SIZES("4", "3", "null") "}",
     {"num_key_value_heads", "divisor of 4"}},
    {"MoreKvHeadsThanHeads",
     "{\"model_type\": \"llama\", " SIZES("4", "8", "null") "}",
     {"num_key_value_heads", "8"}},
    {"TiedIsAWord",
     "{\"model_type\": \"llama\", \"tie_word_embeddings\": \"yes\", " GOOD "}",
     {"tie_word_embeddings", "true or false"}},
    {"ExpertsInALlama",
     "{\"model_type\": \"llama\", \"num_local_experts\": 8, " GOOD "}",
     {"num_local_experts", "no meaning"}},
    {"LatentAttentionInALlama",
     "{\"model_type\": \"llama\", \"kv_lora_rank\": 512, " GOOD "}",
     {"kv_lora_rank", "no meaning"}},
    {"VisionTower",
     "{\"model_type\": \"llama\", \"vision_config\": {\"hidden_size\": 3}, " GOOD "}",
     {"vision_config", "no meaning"}},
    {"MoreActiveThanExperts",
     "{\"model_type\": \"mixtral\", \"num_local_experts\": 2, \"num_experts_per_tok\": 3, " GOOD "}",
     {"num_experts_per_tok", "at most 2"}},
    {"NoExperts", "{\"model_type\": \"mixtral\", " GOOD "}", {"num_local_experts", "missing"}},
    {"WindowInSomeLayers",
     "{\"model_type\": \"qwen2\", \"use_sliding_window\": true, " GOOD "}",
     {"use_sliding_window", "not modelled"}},
    {"LinearAttention",
     "{\"model_type\": \"qwen3\", \"layer_types\": [\"linear_attention\"], " GOOD "}",
     {"layer_types", "linear_attention"}},
    {"DenseLayerOutside",
     "{\"model_type\": \"qwen3_moe\", \"num_experts\": 4, \"num_experts_per_tok\": 2, "
     "\"moe_intermediate_size\": 8, "
     "\"mlp_only_layers\": [2], " GOOD "}",
     {"mlp_only_layers", "2"}},
    {"CrossAttention",
     "{\"model_type\": \"gpt2\", \"n_embd\": 8, \"n_head\": 2, \"n_layer\": 1, \"n_positions\": 8, "
     "\"vocab_size\": 9, "
     "\"add_cross_attention\": true}",
     {"add_cross_attention", "no meaning"}},
    {"PatchDoesNotDivideImage",
     "{\"model_type\": \"vit\", \"hidden_size\": 8, \"num_hidden_layers\": 1, \"num_attention_heads\": 2, "
     "\"intermediate_size\": 8, \"image_size\": 224, \"patch_size\": 15}",
     {"patch_size", "divisor of 224"}},
    {"TooManyParameters",
     "{\"model_type\": \"mixtral\", \"hidden_size\": 10000000, \"num_hidden_layers\": 1, "
     "\"num_attention_heads\": 10, "
     "\"intermediate_size\": 100000000, \"vocab_size\": 9, \"max_position_embeddings\": 9, "
     "\"num_local_experts\": 1000000, \"num_experts_per_tok\": 2}",
     {"1e18", "digit"}},
};
#undef GOOD
#undef SIZES

TEST_P(JsonMistake, IsRefused) { expect_refusal(GetParam(), "a.json"); }
INSTANTIATE_TEST_SUITE_P(Each, JsonMistake, testing::ValuesIn(json_mistakes),
                         [](const auto& each) { return std::string(each.param.title); });

#define LLAMA "family = \"llama\"\nhidden = 64\nheads = 4\nfeed_forward = 128\nvocabulary = 100\n"

constexpr Mistake toml_mistakes[] = {
    {"Empty", "", {"family", "llama"}},
    {"Syntax", "family = ", {":1", ""}},
    {"UnknownFamily", "family = \"lama\"", {"lama", "llama"}},
    {"LatentAttention", "family = \"deepseek_v3\"", {"family", "config.json"}},
    {"UnknownKey", LLAMA "layer = 2\nsequence = 8", {"layer", "layers"}},
    {"MissingLayers", LLAMA "sequence = 8", {"layers", "missing"}},
    {"MissingSequence", LLAMA "layers = 2", {"sequence", "missing"}},
    {"NaN", LLAMA "layers = nan\nsequence = 8", {"layers", "expected"}},
    {"NegativeLayers", LLAMA "layers = -1\nsequence = 8", {"layers", "-1"}},
    {"KvHeads", LLAMA "layers = 2\nsequence = 8\nkv_heads = 3", {"kv_heads", "divisor of 4"}},
    {"ExpertSizesWithoutExperts",
     LLAMA "layers = 2\nsequence = 8\nexpert_feed_forward = 8",
     {"experts", "missing"}},
    {"OneExpert", LLAMA "layers = 2\nsequence = 8\nexperts = 1", {"experts", "2"}},
    {"ImageOfWords", LLAMA "layers = 2\nsequence = 8\nimage = 8\npatch = 2", {"image", "vit"}},
    {"ImageWithASequence",
     "family = \"vit\"\nlayers = 2\nhidden = 8\nheads = 2\nfeed_forward = 8\nimage = 8\npatch = 2\nsequence "
     "= 16",
     {"sequence", "17"}},
    {"NoParts", "image = 8\nparts = []", {"parts", "at least one"}},
    {"NoImage", "parts = [{ linear = 3 }]", {"image", "missing"}},
    {"UnknownPart", "image = 8\nparts = [{ liner = 3 }]", {"liner", "linear"}},
    {"EmptyPart", "image = 8\nparts = [{ repeat = 2 }]", {"parts", "convolutions or linear"}},
    {"NoChannels", "image = 8\nparts = [{ convolutions = [{ kernel = 3 }] }]", {"out", "missing"}},
    {"Groups", "image = 8\nparts = [{ convolutions = [{ out = 4, groups = 2 }] }]", {"groups", "divisor"}},
    {"KernelTooLarge",
     "image = 2\nparts = [{ convolutions = [{ out = 4, kernel = 4 }] }, { convolutions = [{ out = 4, kernel "
     "= 4 }] }]",
     {"convolutions", "does not fit"}},
    {"ConvolutionAfterLinear",
     "image = 8\nparts = [{ linear = 4 }, { convolutions = [{ out = 4 }] }]",
     {"convolutions", "does not fit"}},
    {"ShortcutOfAnotherShape",
     "image = 8\nparts = [{ convolutions = [{ out = 4, stride = 2 }], shortcut = { out = 4 } }]",
     {"shortcut", "same channels and stride"}},
    {"RepeatTooOften", "image = 8\nparts = [{ linear = 4, repeat = 100000 }]", {"repeat", "100000"}},
    {"HugeLinear", "image = 1000000\nchannels = 1000000\nparts = [{ linear = 1000000 }]", {"parts", "digit"}},
};
#undef LLAMA

TEST_P(TomlMistake, IsRefused) { expect_refusal(GetParam(), "a.toml"); }
INSTANTIATE_TEST_SUITE_P(Each, TomlMistake, testing::ValuesIn(toml_mistakes),
                         [](const auto& each) { return std::string(each.param.title); });

TEST(Refusals, AFileThatIsNoModelFile) {
  const TemporaryFile file("model.yaml", "layers: 3");

  EXPECT_NE(refusal_of(file.path()).find("config.json"), std::string::npos);
}

TEST(Refusals, AFileThatIsNotThere) { EXPECT_FALSE(refusal_of("/nowhere/config.json").empty()); }

}  // namespace
}  // namespace dlnb
