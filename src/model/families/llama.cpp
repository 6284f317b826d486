// SPDX-License-Identifier: Apache-2.0
// Touvron et al., LLaMA, arXiv:2302.13971: RMSNorm in front, rotary positions, gated feed-forward;
// grouped queries since Llama 2 (arXiv:2307.09288).
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() { return {}; }

void read(const Config& config, Transformer& t) {
  read_decoder(config, t);
  t.qkv_bias = t.output_bias = config.flag("attention_bias", false);
  t.mlp_bias = config.flag("mlp_bias", false);
}

}  // namespace

extern constinit const Family llama{
    .name = "llama",
    .summary = "RMSNorm, rotary positions, grouped queries, gated feed-forward",
    .classes = {"LlamaForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
