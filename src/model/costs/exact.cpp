// SPDX-License-Identifier: Apache-2.0
// Kernel by kernel from the model's own tensors; a part's time is the sum of its kernels' rooflines. With T
// tokens (of them T·k/E per expert) and s bytes per element:
//   matrix out × in     FLOPs 2·T·out·in            bytes (out·in + T·(out + in))·s
//   scores and values   FLOPs 2·B·h·pairs·(q + v)   bytes of q, k, v read and of the result written
//                       pairs = N²; causal N²/2; causal with a window w < N: N·w − w²/2
//   norm                bytes 2·T·d·s; residual 3·T·d·s; activation 3·T·H·s gated, 2·T·H·s otherwise
//   embedding           bytes T·d·s per table and once for the sum
//   head                its matrix, tied or not
// h heads of size q (queries, keys) and v (values). Gated feed-forwards have three matrices and grouped queries
// smaller k and v, because the tensors do.
//
// Backward has two products of the same size per product, so 2 · forward, and one forward more where
// activations are recomputed. Kernels reach peak · ceiling · f / (f + half) at f FLOP, where the device states
// such a curve.
//
// Counting: Narayanan et al., arXiv:2104.04473, appendix. Scores stay on chip: Dao et al., arXiv:2205.14135.
//
// Not counted: norms of single heads and of latents, rotation, softmax and loss, routing, imbalance of experts.
#include <vector>

#include "model/roofline.hpp"

namespace dlnb::costs {
namespace {

double efficiency(const Device& device, double flops) {
  if (device.efficiency_source.empty() || flops <= 0) return 1;
  return device.efficiency_ceiling * flops / (flops + device.efficiency_half.value);
}

// Sums kernels on one device.
class Kernels {
 public:
  Kernels(const Workload& load, const Device& device) : device_(device), size_(double(size_of(load.dtype))) {}

  void add(double flops, double elements, double count = 1) {
    total_ += roofline(flops, elements * size_, device_, efficiency(device_, flops)) * count;
  }
  void matrix(double tokens, double out, double in, double count = 1) {
    add(2 * tokens * out * in, out * in + tokens * (out + in), count);
  }
  void move(double elements) { add(0, elements); }
  Cost total() const { return total_; }

 private:
  const Device& device_;
  double size_;
  Cost total_;
};

void add_matrices(Kernels& kernels, const Model& model, const Part& part, double tokens) {
  const double share = double(model.architecture.experts_active) / double(model.architecture.experts);
  for (const Tensor& tensor : part.tensors)
    if (tensor.columns > 1)
      kernels.matrix(tensor.expert ? tokens * share : tokens, double(tensor.rows), double(tensor.columns),
                     double(tensor.copies));
}

double pairs_of(const Architecture& a, double sequence) {
  if (!a.causal) return sequence * sequence;
  const double window = a.window > 0 && double(a.window) < sequence ? double(a.window) : sequence;
  return sequence * window - window * window / 2;
}

void add_scores(Kernels& kernels, const Architecture& a, const Workload& load) {
  const double samples = double(load.samples), sequence = double(load.sequence);
  const double key = double(a.head_size), value = double(a.value_head_size);
  const double heads = double(a.heads), kv_heads = double(a.kv_heads);
  kernels.add(2 * samples * heads * pairs_of(a, sequence) * (key + value),
              samples * sequence * (heads + kv_heads) * (key + value));
}

void add_embedding(Kernels& kernels, const Model& model, const Part& part, const Workload& load) {
  const double samples = double(load.samples), sequence = double(load.sequence);
  const double row = samples * sequence * double(model.architecture.hidden);
  if (model.architecture.vocabulary > 0) {
    double tables = 0;
    for (const Tensor& tensor : part.tensors) tables += tensor.columns > 1;
    kernels.move(row * (tables + 1));
    return;
  }
  // Patches are a product of every patch with one matrix; positions are added to them and the class token.
  const Tensor& patch = part.tensors[2];
  kernels.matrix(samples * (sequence - 1), double(patch.rows), double(patch.columns));
  kernels.move(3 * row);
}

void add_head(Kernels& kernels, const Model& model, const Part& part, const Workload& load) {
  const Architecture& a = model.architecture;
  const bool words = a.vocabulary > 0;
  const double tokens =
      double(load.samples) * (words ? double(load.sequence) : 1.0);  // images: the class token
  if (words && part.tensors.empty()) kernels.matrix(tokens, double(a.vocabulary), double(a.hidden));  // tied
  add_matrices(kernels, model, part, tokens);
}

Cost forward(const Model& model, const Part& part, const Workload& load, const Device& device) {
  if (!model.is_transformer())
    return layer_list_cost(part, load, device, efficiency(device, double(load.samples) * part.forward_flops));
  const double tokens = double(load.samples) * double(load.sequence);
  const double activation = tokens * double(model.architecture.hidden);
  Kernels kernels(load, device);
  switch (part.kind) {
    case PartKind::embedding: add_embedding(kernels, model, part, load); break;
    case PartKind::attention:
      kernels.move(2 * activation + 3 * activation);
      add_matrices(kernels, model, part, tokens);
      add_scores(kernels, model.architecture, load);
      break;
    case PartKind::mlp:
      kernels.move(2 * activation + 3 * activation);
      add_matrices(kernels, model, part, tokens);
      kernels.move(tokens * feed_forward_of(model, part).visited * (model.architecture.gated ? 3 : 2));
      break;
    case PartKind::norm: kernels.move(2 * activation); break;
    case PartKind::head: add_head(kernels, model, part, load); break;
    case PartKind::convolution: break;
  }
  return kernels.total();
}

Cost backward(const Model& model, const Part& part, const Workload& load, const Device& device) {
  return forward(model, part, load, device) * (load.recompute ? 3 : 2);
}

}  // namespace

extern constinit const CostModel exact{
    .name = "exact",
    .summary =
        "every matrix, score, norm, embedding and head as a kernel; efficiency curve where the device has "
        "one",
    .forward = forward,
    .backward = backward,
};

}  // namespace dlnb::costs
