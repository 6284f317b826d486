// SPDX-License-Identifier: Apache-2.0
// Qwen3 Technical Report, arXiv:2505.09388: qwen3 with fine experts and no shared one.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() { return {.head_norms = true}; }

void read(const Config& config, Transformer& t) {
  read_decoder(config, t);
  require_full_attention(config);
  t.qkv_bias = t.output_bias = config.flag("attention_bias", false);
  read_sparse_layers(config, t);
}

}  // namespace

extern constinit const Family qwen3_moe{
    .name = "qwen3_moe",
    .summary = "qwen3 with a mixture of experts",
    .classes = {"Qwen3MoeForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
