// SPDX-License-Identifier: Apache-2.0
// Qwen3 Technical Report, arXiv:2505.09388: a llama with norms on query and key heads, of a stated head size.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() { return {.head_norms = true}; }

void read(const Config& config, Transformer& t) {
  read_decoder(config, t);
  require_full_attention(config);
  t.qkv_bias = t.output_bias = config.flag("attention_bias", false);
  t.head_size = config.integer_or("head_dim", 128, largest::hidden);
}

}  // namespace

extern constinit const Family qwen3{
    .name = "qwen3",
    .summary = "llama with norms on query and key heads",
    .classes = {"Qwen3ForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
