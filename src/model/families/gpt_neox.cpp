// SPDX-License-Identifier: Apache-2.0
// Black et al., GPT-NeoX-20B, arXiv:2204.06745: LayerNorm, rotary positions, q, k and v in one tensor,
// biases. Attention and feed-forward run side by side there; here they follow each other, which changes no
// size.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() {
  return {.layer_norm = true,
          .gated = false,
          .fused_qkv = true,
          .qkv_bias = true,
          .output_bias = true,
          .mlp_bias = true};
}

void read(const Config& config, Transformer& t) {
  read_decoder(config, t);
  t.qkv_bias = t.output_bias = config.flag("attention_bias", true);
}

}  // namespace

extern constinit const Family gpt_neox{
    .name = "gpt_neox",
    .summary = "LayerNorm, rotary positions, fused qkv, biases",
    .classes = {"GPTNeoXForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
