// SPDX-License-Identifier: Apache-2.0
// Activations that one part keeps from its forward to its backward pass, and what it needs besides while the latter
// runs. Per token of which the rank holds T and n (T/t where sequence parallelism cuts the residual stream), with
// s bytes per element, h heads of size q and v, t tensor ranks:
//   attention   s·(n·d + g·d + T/t·(h·q + kv·(q + v) + h·v)) + 4·T·h/t   norm input and output, q, k, v, result, and
//                                                                        the 32-bit sums of a fused softmax
//     not fused: instead of these sums B·h/t·N²·(2s + 1)                 softmax, its dropout mask and output
//   mlp         s·(n·d + g·d + T/t·H·4) gated, ·2 otherwise; H of the experts a token visits
//   norm        s·(n·d + g·d)
// g = T: the gathered output of the norm is kept; n where it is gathered again (Megatron) or never was.
//   head        (s + 4)·T·V logits in the activations' and in 32 bits; their gradients besides
// Recomputation: full keeps the s·n·d input of a layer and needs the whole layer besides; selective keeps no scores
// that are not fused.
// Source: Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", arXiv:2205.05198,
// section 4: 34·s·b·h + 5·a·s²·b per layer with 16-bit elements; theirs has 2·s·b·h of dropout masks more.
// Layer lists: each layer's output once.
// Not counted: biases, routing, dropout outside of attention, fragmentation of the allocator.
#include <algorithm>

#include "model/activations.hpp"
#include "model/roofline.hpp"

namespace dlnb {
namespace {

struct Sizes {
  double element, tokens, stream;  ///< bytes; tokens of the rank; of them in the residual stream
  double ranks;                    ///< tensor
};

double scores(const Architecture& a, const Workload& load, const Sizes& z) {
  const double queries = double(load.sequence) / double(load.division.context);
  const double pairs = double(load.samples) * double(a.heads) / z.ranks * queries * double(load.sequence);
  return pairs * (2 * z.element + 1);
}

double attention_inside(const Architecture& a, const Workload& load, const Sizes& z) {
  const double kv_ranks = double(std::min(load.division.tensor, std::max<std::int64_t>(a.kv_heads, 1)));
  const double queries = double(a.heads) * double(a.head_size + a.value_head_size) / z.ranks;
  const double keys = double(a.kv_heads) * double(a.head_size + a.value_head_size) / kv_ranks;
  return z.element * z.tokens * (queries + keys) +
         (load.fused_attention ? 4 * z.tokens * double(a.heads) / z.ranks : 0);
}

double mlp_inside(const Model& model, const Part& part, const Sizes& z) {
  return z.element * z.tokens / z.ranks * feed_forward_of(model, part).visited *
         (model.architecture.gated ? 4 : 2);
}

}  // namespace

Activations activations_of(const Model& model, const Part& part, const Workload& load) {
  const double element = double(size_of(load.dtype));
  if (!model.is_transformer()) {
    const double all = element * double(load.samples) * double(part.activation_elements) / 2;
    return {all, element * double(load.samples) * double(part.output_elements)};
  }
  const Architecture& a = model.architecture;
  const double tokens = double(load.samples) * double(load.sequence) / double(load.division.context);
  const double ranks = double(load.division.tensor);
  const Sizes z{element, tokens, load.division.sequence_parallel ? tokens / ranks : tokens, ranks};
  const double row = element * z.stream * double(a.hidden);
  const double whole_row = element * tokens * double(a.hidden);
  const double input = load.division.regathers ? row : whole_row;  // of the matrices
  const bool full = load.recompute == Recompute::full;
  switch (part.kind) {
    case PartKind::embedding: return {0, whole_row};
    case PartKind::norm: return {row + (load.division.ends ? input : row), row};
    case PartKind::attention: {
      const double inside = attention_inside(a, load, z);
      const double pairs = load.fused_attention ? 0 : scores(a, load, z);
      const double gradients = inside + whole_row;
      if (full) return {row, input + inside + pairs + gradients};
      const bool again = load.recompute == Recompute::selective;
      return {row + input + inside + (again ? 0 : pairs), gradients + (again ? pairs : 0)};
    }
    case PartKind::mlp: {
      const double inside = mlp_inside(model, part, z);
      const double gradients = inside * 0.75 + whole_row;  // of gate and up, and what flows into them
      if (!full) return {row + input + inside, gradients};
      // The layer's forward pass has run again: attention's share is there until its own turn.
      const double attention =
          row + 2 * input + attention_inside(a, load, z) + (load.fused_attention ? 0 : scores(a, load, z));
      return {0, attention + inside + gradients};
    }
    case PartKind::head: {
      const bool words = a.vocabulary > 0;
      const double logits = words ? tokens * double(a.vocabulary) / (load.division.ends ? ranks : 1) : 0;
      return {logits * (element + 4), logits * (element + 4)};
    }
    case PartKind::convolution: return {};
  }
  return {};
}

}  // namespace dlnb
