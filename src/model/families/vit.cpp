// SPDX-License-Identifier: Apache-2.0
// Dosovitskiy et al., An Image is Worth 16x16 Words, arXiv:2010.11929: patches and a class token, LayerNorm,
// biases, no causal mask. `ViTModel` ends in a pooler, `ViTForImageClassification` in a classifier.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() {
  return {.layer_norm = true,
          .gated = false,
          .causal = false,
          .qkv_bias = true,
          .output_bias = true,
          .mlp_bias = true,
          .pooler = true};
}

// A classifier has as many classes as labels are listed, else num_labels.
std::int64_t classes_of(const Config& config) {
  if (const Value* labels = config.find("id2label")) return std::int64_t(labels->table("id2label").size());
  return config.integer_or("num_labels", 2, largest::vocabulary);  // 2: the default of the class
}

bool is_classifier(const Config& config) {
  const Value* classes = config.find("architectures");
  return classes && std::get<std::string>(classes->array().front().data()) == "ViTForImageClassification";
}

void read(const Config& config, Transformer& t) {
  t.keys = decoder_keys();
  t.keys.image = "image_size";
  t.keys.patch = "patch_size";
  t.layers = config.integer("num_hidden_layers", largest::layers);
  t.hidden = config.integer("hidden_size", largest::hidden);
  t.heads = config.integer("num_attention_heads", largest::heads);
  t.feed_forward = config.integer("intermediate_size", largest::feed_forward);
  t.image = config.integer("image_size", largest::image);
  t.patch = config.integer("patch_size", largest::image);
  t.channels = config.integer_or("num_channels", 3, largest::image);
  t.qkv_bias = config.flag("qkv_bias", true);
  config.find("tie_word_embeddings");  // written by some tools; there are no words to tie
  if (is_classifier(config)) {
    t.pooler = false;
    t.classes = classes_of(config);
  }
}

}  // namespace

extern constinit const Family vit{
    .name = "vit",
    .summary = "images as patches with a class token; LayerNorm, biases",
    .classes = {"ViTModel", "ViTForImageClassification"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
