// SPDX-License-Identifier: Apache-2.0
// Radford et al., Language Models are Unsupervised Multitask Learners, 2019: LayerNorm, learned positions,
// q, k and v in one tensor, biases everywhere, the head tied to the embedding.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() {
  return {.layer_norm = true,
          .gated = false,
          .fused_qkv = true,
          .qkv_bias = true,
          .output_bias = true,
          .mlp_bias = true,
          .learned_positions = true,
          .tied_head = true};
}

void read(const Config& config, Transformer& t) {
  t.keys = {.layers = "n_layer",
            .hidden = "n_embd",
            .heads = "n_head",
            .feed_forward = "n_inner",
            .vocabulary = "vocab_size",
            .sequence = "n_positions"};
  t.layers = config.integer("n_layer", largest::layers);
  t.hidden = config.integer("n_embd", largest::hidden);
  t.heads = config.integer("n_head", largest::heads);
  t.feed_forward = config.integer_or("n_inner", 4 * t.hidden, largest::feed_forward);
  t.vocabulary = config.integer("vocab_size", largest::vocabulary);
  t.sequence = config.integer("n_positions", largest::sequence);
  t.tied_head = config.flag("tie_word_embeddings", true);
}

}  // namespace

extern constinit const Family gpt2{
    .name = "gpt2",
    .summary = "LayerNorm, learned positions, fused qkv, biases, tied head",
    .classes = {"GPT2LMHeadModel"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
