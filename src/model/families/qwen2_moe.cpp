// SPDX-License-Identifier: Apache-2.0
// Qwen2 Technical Report, arXiv:2407.10671, section 2.2.2: qwen2 with fine experts and one gated shared
// expert.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() { return {.qkv_bias = true, .shared_gate = true}; }

void read(const Config& config, Transformer& t) {
  read_decoder(config, t);
  require_full_attention(config);
  t.qkv_bias = config.flag("qkv_bias", true);
  read_sparse_layers(config, t);
  t.shared_feed_forward = config.integer("shared_expert_intermediate_size", largest::feed_forward);
}

}  // namespace

extern constinit const Family qwen2_moe{
    .name = "qwen2_moe",
    .summary = "qwen2 with a mixture of experts and a gated shared expert",
    .classes = {"Qwen2MoeForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
