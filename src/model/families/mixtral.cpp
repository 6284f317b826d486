// SPDX-License-Identifier: Apache-2.0
// Jiang et al., Mixtral of Experts, arXiv:2401.04088: a mistral whose feed-forward is a mixture.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() { return {}; }

void read(const Config& config, Transformer& t) {
  read_decoder(config, t);
  t.keys.experts = "num_local_experts";
  t.window = config.integer_or("sliding_window", 0, largest::sequence);
  t.experts = config.integer("num_local_experts", largest::experts, 2);
  t.experts_active = config.integer("num_experts_per_tok", largest::experts);
}

}  // namespace

extern constinit const Family mixtral{
    .name = "mixtral",
    .summary = "llama with a mixture of experts in every layer",
    .classes = {"MixtralForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
