// SPDX-License-Identifier: Apache-2.0
// Qwen2 Technical Report, arXiv:2407.10671: a llama with biases on q, k and v.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() { return {.qkv_bias = true}; }

void read(const Config& config, Transformer& t) {
  read_decoder(config, t);
  require_full_attention(config);
}

}  // namespace

extern constinit const Family qwen2{
    .name = "qwen2",
    .summary = "llama with biases on q, k and v",
    .classes = {"Qwen2ForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
