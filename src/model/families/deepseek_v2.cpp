// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V2, arXiv:2405.04434: latent attention, fine and shared experts after some dense layers.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() { return {}; }

void read(const Config& config, Transformer& t) { read_deepseek(config, t); }

}  // namespace

extern constinit const Family deepseek_v2{
    .name = "deepseek_v2",
    .summary = "latent attention, fine and shared experts",
    .classes = {"DeepseekV2ForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
