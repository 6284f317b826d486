// SPDX-License-Identifier: Apache-2.0
// Jiang et al., Mistral 7B, arXiv:2310.06825: a llama whose tokens look back over a window.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() { return {}; }

void read(const Config& config, Transformer& t) {
  read_decoder(config, t);
  t.window = config.integer_or("sliding_window", 0, largest::sequence);
}

}  // namespace

extern constinit const Family mistral{
    .name = "mistral",
    .summary = "llama with an optional sliding window",
    .classes = {"MistralForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
