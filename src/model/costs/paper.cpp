// SPDX-License-Identifier: Apache-2.0
// The paper's per-layer costs. With B samples of N tokens, hidden size d, feed-forward size H, E experts of
// which a token visits k, s bytes per element:
//   attention   FLOPs 8·B·N·d² + 4·B·N²·d     bytes 4·d²·s + 2·B·N·d·s
//   mlp         FLOPs 4·B·N·d·H·k             bytes 2·d·H·s·E + 2·B·N·d·s
//   time        FLOPs / min(peak, FLOPs/bytes · bandwidth);  backward = 2 · forward
// Source: the DLNetBench paper, section II. What lies outside the layers costs nothing.
// Stops being true for gated feed-forwards (three matrices, so 1.5 times the FLOPs), grouped queries (fewer)
// and causal masks (half the scores); `exact` counts these. Experts every token visits add their size to H·k
// and H·E. The formulas know transformers only; layer lists use their own FLOPs (src/model/layers.cpp).
#include "model/roofline.hpp"

namespace dlnb::costs {
namespace {

Cost forward(const Model& model, const Part& part, const Workload& load, const Device& device) {
  if (!model.is_transformer()) return layer_list_cost(part, load, device);
  const double tokens = double(load.samples) * double(load.sequence);
  const double sequence = double(load.sequence);
  const double hidden = double(model.architecture.hidden);
  const double size = double(size_of(load.dtype));
  const double activation_bytes = 2 * tokens * hidden * size;
  switch (part.kind) {
    case PartKind::attention:
      return roofline(8 * tokens * hidden * hidden + 4 * tokens * sequence * hidden,
                      4 * hidden * hidden * size + activation_bytes, device);
    case PartKind::mlp: {
      const FeedForward width = feed_forward_of(model, part);
      return roofline(4 * tokens * hidden * width.visited,
                      2 * hidden * width.stored * size + activation_bytes, device);
    }
    case PartKind::embedding:
    case PartKind::norm:
    case PartKind::head:
    case PartKind::convolution: return {};
  }
  return {};
}

Cost backward(const Model& model, const Part& part, const Workload& load, const Device& device) {
  return forward(model, part, load, device) * 2;
}

}  // namespace

extern constinit const CostModel paper{
    .name = "paper",
    .summary = "the paper's roofline of attention and feed-forward at datasheet peak",
    .forward = forward,
    .backward = backward,
};

}  // namespace dlnb::costs
