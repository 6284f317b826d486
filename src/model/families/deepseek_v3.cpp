// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V3, arXiv:2412.19437: deepseek_v2 with other routing. The routing biases are set by a rule and not
// by gradients, and multi-token prediction layers are optional: neither is counted.
#include "model/family.hpp"

namespace dlnb::families {
namespace {

Transformer preset() { return {}; }

void read(const Config& config, Transformer& t) { read_deepseek(config, t); }

}  // namespace

extern constinit const Family deepseek_v3{
    .name = "deepseek_v3",
    .summary = "deepseek_v2 with other routing; without multi-token prediction",
    .classes = {"DeepseekV3ForCausalLM"},
    .preset = preset,
    .read = read,
};

}  // namespace dlnb::families
