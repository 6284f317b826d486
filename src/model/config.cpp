// SPDX-License-Identifier: Apache-2.0
#include "model/config.hpp"

#include <array>

#include <fmt/format.h>

#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

#include "model/family.hpp"

namespace dlnb {
namespace {

// Keys that add, remove or reshape tensors, or change which tokens meet, in at least one published family.
// clang-format off
constexpr std::array structural{
    "num_key_value_heads", "head_dim", "attention_bias", "mlp_bias", "qkv_bias", "multi_query",
    "parallel_attn", "tie_word_embeddings", "num_local_experts", "num_experts", "n_routed_experts",
    "num_experts_per_tok", "moe_intermediate_size", "n_shared_experts", "shared_expert_intermediate_size",
    "first_k_dense_replace", "decoder_sparse_step", "mlp_only_layers", "q_lora_rank", "kv_lora_rank",
    "qk_rope_head_dim", "layer_types", "sliding_window", "use_sliding_window", "vision_config",
    "text_config", "encoder_layers", "decoder_layers", "is_encoder_decoder", "add_cross_attention",
    "cross_attention_layers", "num_kv_shared_layers", "interleave_moe_layer_step"
};
// clang-format on

bool neutral(const Value& value) {
  const auto& data = value.data();
  if (value.empty()) return true;
  if (const bool* flag = std::get_if<bool>(&data)) return !*flag;
  if (const auto* number = std::get_if<std::int64_t>(&data)) return *number == 0;
  if (const auto* array = std::get_if<Value::Array>(&data)) return array->empty();
  return false;
}

const Family& family_of(const Config& config) {
  std::string architecture;
  if (const Value* architectures = config.find("architectures")) {
    const Value::Array& list = architectures->array("architectures");
    if (list.size() != 1)
      config.refuse("architectures", "must name exactly one class", "for example [\"LlamaForCausalLM\"]");
    read_value(list.front(), "architectures[0]", architecture);
  }
  const auto class_of = [&](const Family& family) {
    for (std::string_view name : family.classes)
      if (!name.empty() && name == architecture) return true;
    return false;
  };

  const std::string type = config.word_or("model_type", "");
  if (!type.empty()) {
    const Family& family = entry_called(families::all(), type, config.file() + " model_type");
    if (!architecture.empty() && !class_of(family)) {
      std::vector<std::string> choices;
      for (std::string_view name : family.classes)
        if (!name.empty()) choices.emplace_back(name);
      config.refuse("architectures",
                    fmt::format("'{}' is not a class of {} that is known here", architecture, type),
                    choose_one_of(architecture, choices));
    }
    return family;
  }
  if (architecture.empty())
    config.refuse("model_type", "is missing", choose_one_of("", names_of(families::all())));
  std::vector<std::string> choices;
  for (const Family* family : families::all()) {
    if (class_of(*family)) return *family;
    choices.emplace_back(family->classes[0]);
  }
  config.refuse("architectures", fmt::format("nothing is called '{}'", architecture),
                choose_one_of(architecture, choices));
}

}  // namespace

const Value* Config::find(std::string_view key) const {
  read_.emplace(key);
  const Value* value = root_.find(key);
  return value && !value->empty() ? value : nullptr;
}

std::int64_t Config::integer(std::string_view key, double high, double low) const {
  if (!has(key)) refuse(key, "is missing", fmt::format("expected a whole number from {} to {}", low, high));
  return integer_or(key, 0, high, low);
}

std::int64_t Config::integer_or(std::string_view key, std::int64_t fallback, double high, double low) const {
  const Value* value = find(key);
  if (!value) return fallback;
  std::int64_t number = 0;
  read_value(*value, key, number);
  check_range(*value, key, double(number), {low, high});
  return number;
}

bool Config::flag(std::string_view key, bool fallback) const {
  if (const Value* value = find(key)) read_value(*value, key, fallback);
  return fallback;
}

std::string Config::word_or(std::string_view key, const std::string& fallback) const {
  std::string word = fallback;
  if (const Value* value = find(key)) read_value(*value, key, word);
  return word;
}

void Config::refuse(std::string_view key, std::string_view problem, std::string_view hint) const {
  throw UserError(fmt::format("{} {}", file_, key), problem, hint);
}

void Config::refuse_unread() const {
  for (std::string_view key : structural) {
    if (read_.contains(key)) continue;
    const Value* value = root_.find(key);
    if (value && !neutral(*value))
      refuse(key, "has no meaning in this model_type", "check model_type, or remove the key");
  }
}

Keys decoder_keys() {
  return {.layers = "num_hidden_layers",
          .hidden = "hidden_size",
          .heads = "num_attention_heads",
          .kv_heads = "num_key_value_heads",
          .feed_forward = "intermediate_size",
          .vocabulary = "vocab_size",
          .sequence = "max_position_embeddings",
          .experts_active = "num_experts_per_tok"};
}

void read_decoder(const Config& config, Transformer& t) {
  t.keys = decoder_keys();
  t.layers = config.integer("num_hidden_layers", largest::layers);
  t.hidden = config.integer("hidden_size", largest::hidden);
  t.heads = config.integer("num_attention_heads", largest::heads);
  t.kv_heads = config.integer_or("num_key_value_heads", t.heads, largest::heads);
  t.head_size = config.integer_or("head_dim", 0, largest::hidden);
  t.feed_forward = config.integer("intermediate_size", largest::feed_forward);
  t.vocabulary = config.integer("vocab_size", largest::vocabulary);
  t.sequence = config.integer("max_position_embeddings", largest::sequence);
  t.tied_head = config.flag("tie_word_embeddings", t.tied_head);
}

void read_sparse_layers(const Config& config, Transformer& t) {
  t.experts = config.integer("num_experts", largest::experts, 2);
  t.experts_active = config.integer("num_experts_per_tok", largest::experts);
  t.expert_feed_forward = config.integer("moe_intermediate_size", largest::feed_forward);
  const std::int64_t step = config.integer_or("decoder_sparse_step", 1, largest::layers);
  t.expert_layer.resize(std::size_t(t.layers));
  for (std::int64_t layer = 0; layer < t.layers; ++layer)
    t.expert_layer[std::size_t(layer)] = (layer + 1) % step == 0;
  if (const Value* dense = config.find("mlp_only_layers"))
    for (const Value& each : dense->array("mlp_only_layers")) {
      std::int64_t layer = 0;
      read_value(each, "mlp_only_layers", layer);
      check_range(each, "mlp_only_layers", double(layer), {0, double(t.layers - 1)});
      t.expert_layer[std::size_t(layer)] = false;
    }
}

void read_deepseek(const Config& config, Transformer& t) {
  read_decoder(config, t);
  require_full_attention(config);
  if (t.kv_heads != t.heads)
    config.refuse("num_key_value_heads",
                  fmt::format("is {} where latent attention has {} heads", t.kv_heads, t.heads),
                  "expected the value of num_attention_heads");
  const std::int64_t content = config.integer("qk_nope_head_dim", largest::hidden);
  t.rope_size = config.integer("qk_rope_head_dim", largest::hidden);
  t.head_size = content + t.rope_size;  // head_dim, where written, repeats one of these
  t.value_size = config.integer("v_head_dim", largest::hidden);
  t.query_rank = config.integer_or("q_lora_rank", 0, largest::hidden);
  t.kv_rank = config.integer("kv_lora_rank", largest::hidden);
  t.qkv_bias = t.output_bias = config.flag("attention_bias", false);
  t.mlp_bias = config.flag("mlp_bias", false);

  t.experts = config.integer("n_routed_experts", largest::experts, 2);
  t.experts_active = config.integer("num_experts_per_tok", largest::experts);
  t.expert_feed_forward = config.integer("moe_intermediate_size", largest::feed_forward);
  t.shared_feed_forward =
      config.integer_or("n_shared_experts", 0, largest::experts, 0) * t.expert_feed_forward;
  t.dense_layers = config.integer_or("first_k_dense_replace", 0, largest::layers, 0);
  const std::int64_t step = config.integer_or("moe_layer_freq", 1, largest::layers);
  t.expert_layer.resize(std::size_t(t.layers));
  for (std::int64_t layer = 0; layer < t.layers; ++layer)
    t.expert_layer[std::size_t(layer)] = layer % step == 0;
}

void require_full_attention(const Config& config) {
  if (config.flag("use_sliding_window", false))
    config.refuse("use_sliding_window", "windows in only some layers are not modelled", "set it to false");
  config.find("sliding_window");  // without use_sliding_window it has no effect
  if (const Value* types = config.find("layer_types"))
    for (const Value& each : types->array("layer_types")) {
      std::string type;
      read_value(each, "layer_types", type);
      if (type != "full_attention")
        config.refuse("layer_types", fmt::format("'{}' layers are not modelled", type),
                      "expected full_attention");
    }
}

Model read_huggingface(const Value& root, const std::string& file, const std::string& name) {
  root.table();  // anything else is refused here
  const Config config(root, file);
  const Family& family = family_of(config);
  Transformer transformer = family.preset();
  transformer.name = name;
  transformer.family = family.name;
  transformer.summary = fmt::format("{} from a HuggingFace config", family.name);
  transformer.source = fmt::format("HuggingFace config of model_type {}, as given by the user", family.name);
  family.read(config, transformer);
  config.refuse_unread();
  return build(transformer, file);
}

}  // namespace dlnb
