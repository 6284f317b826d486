// SPDX-License-Identifier: Apache-2.0
// Kernel by kernel from the model's own tensors, as the plan has cut them; a part's time is the sum of its kernels.
// One kernel of f FLOP that moves b bytes takes
//   launch + sqrt((f / (peak · e))² + (b / (bandwidth · memory))²)     e = matrix, or attention
// and a part takes at least (its kernels) · dispatch, the time of the host to issue them. With T tokens on the rank
// (of an expert T·k/E times the ranks that share the experts), n = T/t of them where sequence parallelism cuts the
// norms, s bytes per element:
//   matrix out × in       FLOPs 2·T·out·in          elements out·in + T·(out + in); backward: two of this size
//   fused scores          FLOPs 2·B·h·pairs·(q + v) backward 2·B·h·pairs·(3q + 2v): five products, one of them the
//                         scores again              elements of q, k, v and the result; backward twice these
//                         pairs = N²; causal N²/2; causal with a window w < N: N·w − w²/2
//   scores, not fused     two batched products over all N² pairs, mask and softmax 2·B·h·N² elements, dropout 2·B·h·N²
//   norm                  elements 2·n·d, backward 3·n·d; residual 3·n·d both ways
//   rotation of q and k   elements 2·T·(h + kv)·q both ways, where no positions are learned
//   activation            elements 3·T·H gated, 2·T·H otherwise; backward 5·T·H and 3·T·H
//   embedding             elements T·d per table and once for the sum; backward the same
//   head                  its matrix, tied or not; loss on 32-bit logits: 4 + s + 8 bytes per logit each way
//   gradient accumulation reads the new gradient, reads and writes the sum, per parameter and micro-batch
// h heads of size q (queries, keys) and v (values). Gated feed-forwards have three matrices and grouped queries
// smaller k and v, because the tensors do.
//
// Recomputation adds to the backward pass: full, one forward pass of the layer; selective, that of scores which are
// not fused.
//
// Counting: Narayanan et al., arXiv:2104.04473, appendix. Fused scores: Dao et al., arXiv:2205.14135. Recomputation:
// Korthikanti et al., arXiv:2205.05198. The curve: docs/models/compute.md.
//
// Not counted: norms of single heads and of latents, routing, imbalance of experts, biases.
#include <algorithm>
#include <cmath>
#include <vector>

#include "model/roofline.hpp"

namespace dlnb::costs {
namespace {

enum class Direction : std::uint8_t { forward, backward };

// Sums kernels on one device, in one direction.
class Kernels {
 public:
  Kernels(const Workload& load, const Device& device, Direction direction)
      : device_(device), size_(double(size_of(load.dtype))), backward_(direction == Direction::backward) {}

  void matrix(double tokens, double out, double in, double count = 1) {
    run(2 * tokens * out * in, (out * in + tokens * (out + in)) * size_, device_.efficiency.matrix,
        backward_ ? 2 * count : count);
  }
  void attention(double forward, double backward, double elements) {
    run(backward_ ? backward : forward, (backward_ ? 2 : 1) * elements * size_, device_.efficiency.attention);
  }
  void move(double forward, double backward) { move_bytes((backward_ ? backward : forward) * size_); }
  void move_bytes(double bytes) { run(0, bytes, 1); }
  bool is_backward() const { return backward_; }
  double size() const { return size_; }

  Cost total() const {
    Cost cost = total_;
    cost.time.value = std::max(cost.time.value, launches_ * device_.efficiency.dispatch.value);
    return cost;
  }

 private:
  void run(double flops, double bytes, double share, double count = 1) {
    total_ += kernel(flops, bytes, device_, share) * count;
    launches_ += count;
  }

  const Device& device_;
  double size_;
  bool backward_;
  Cost total_;
  double launches_ = 0;
};

double tokens_of(const Workload& load) {
  return double(load.samples) * double(load.sequence) / double(load.division.context);
}

// Of the residual stream.
double row_elements(const Model& model, const Workload& load) {
  const double cut = load.division.sequence_parallel ? double(load.division.tensor) : 1;
  return tokens_of(load) * double(model.architecture.hidden) / cut;
}

void add_matrices(Kernels& kernels, const Model& model, const Part& part, const Workload& load, double tokens,
                  bool is_cut) {
  const Architecture& a = model.architecture;
  const double share = double(a.experts_active) / double(a.experts);
  const double ranks = is_cut ? double(load.division.tensor) : 1;
  const double expert_ranks = double(load.division.expert);
  for (const Tensor& tensor : part.tensors) {
    if (tensor.columns == 1) continue;
    const double out = double(tensor.rows) / (tensor.cut == Cut::rows ? ranks : 1);
    const double in = double(tensor.columns) / (tensor.cut == Cut::columns ? ranks : 1);
    if (tensor.expert)
      kernels.matrix(tokens * share * expert_ranks, out, in, double(tensor.copies) / expert_ranks);
    else kernels.matrix(tokens, out, in, double(tensor.copies));
  }
}

void add_accumulation(Kernels& kernels, const Part& part, const Workload& load, bool is_cut) {
  if (!kernels.is_backward() || !load.accumulates) return;
  double elements = 0;
  for (const Tensor& tensor : part.tensors)
    elements +=
        double(tensor.elements()) / ((is_cut && tensor.cut != Cut::none ? double(load.division.tensor) : 1) *
                                     (tensor.expert ? double(load.division.expert) : 1));
  if (elements > 0)
    kernels.move_bytes(elements * (kernels.size() + 2 * double(size_of(load.gradient_dtype))));
}

double pairs_of(const Architecture& a, double sequence) {
  if (!a.causal) return sequence * sequence;
  const double window = a.window > 0 && double(a.window) < sequence ? double(a.window) : sequence;
  return sequence * window - window * window / 2;
}

void add_scores(Kernels& kernels, const Architecture& a, const Workload& load) {
  const double samples = double(load.samples), sequence = double(load.sequence);
  const double key = double(a.head_size), value = double(a.value_head_size);
  const double heads = double(a.heads) / double(load.division.tensor);
  const double kv_heads = double(a.kv_heads) / double(std::min(load.division.tensor, a.kv_heads));
  const double share = 1 / double(load.division.context);  // of the queries
  const double vectors = samples * sequence * share * (heads + kv_heads) * (key + value);
  if (load.fused_attention) {
    const double pairs = samples * heads * pairs_of(a, sequence) * share;
    kernels.attention(2 * pairs * (key + value), 2 * pairs * (3 * key + 2 * value), vectors);
    return;
  }
  const double pairs = samples * heads * sequence * sequence * share;
  for (const double depth : {key, value}) {
    const double products = kernels.is_backward() ? 2 : 1;
    kernels.attention(2 * pairs * depth, 2 * pairs * depth * products, pairs + vectors / 2);
  }
  kernels.move(2 * pairs, 3 * pairs);  // mask and softmax
  kernels.move(2 * pairs, 3 * pairs);  // dropout
}

bool rotates(const Model& model) {
  if (model.architecture.vocabulary == 0) return false;
  for (const Tensor& tensor : model.parts.front().tensors)
    if (tensor.name == "position.weight") return false;
  return true;
}

void add_attention(Kernels& kernels, const Model& model, const Part& part, const Workload& load) {
  const Architecture& a = model.architecture;
  const double tokens = tokens_of(load), row = row_elements(model, load);
  kernels.move(2 * row, 3 * row);
  kernels.move(3 * row, 3 * row);
  add_matrices(kernels, model, part, load, tokens, true);
  if (rotates(model)) {
    const double vectors = 2 * tokens * double(a.head_size) *
                           (double(a.heads) / double(load.division.tensor) +
                            double(a.kv_heads) / double(std::min(load.division.tensor, a.kv_heads)));
    kernels.move(vectors, vectors);
  }
  add_scores(kernels, a, load);
  add_accumulation(kernels, part, load, true);
}

void add_mlp(Kernels& kernels, const Model& model, const Part& part, const Workload& load) {
  const double tokens = tokens_of(load), row = row_elements(model, load);
  const double features = tokens * feed_forward_of(model, part).visited / double(load.division.tensor);
  kernels.move(2 * row, 3 * row);
  kernels.move(3 * row, 3 * row);
  add_matrices(kernels, model, part, load, tokens, true);
  if (model.architecture.gated) kernels.move(3 * features, 5 * features);
  else kernels.move(2 * features, 3 * features);
  add_accumulation(kernels, part, load, true);
}

void add_embedding(Kernels& kernels, const Model& model, const Part& part, const Workload& load) {
  const double tokens = tokens_of(load);
  const double row = tokens * double(model.architecture.hidden);
  if (model.architecture.vocabulary > 0) {
    double tables = 0;
    for (const Tensor& tensor : part.tensors) tables += tensor.columns > 1;
    kernels.move(row * (tables + 1), row * (tables + 1));
  } else {
    // Patches are a product of every patch with one matrix; positions are added to them and the class token.
    const Tensor& patch = part.tensors[2];
    const double patches = double(load.samples) * double(load.sequence - 1) / double(load.division.context);
    kernels.matrix(patches, double(patch.rows), double(patch.columns));
    kernels.move(3 * row, 3 * row);
  }
  add_accumulation(kernels, part, load, load.division.ends);
}

void add_head(Kernels& kernels, const Model& model, const Part& part, const Workload& load) {
  const Architecture& a = model.architecture;
  const bool words = a.vocabulary > 0;
  const double tokens = words ? tokens_of(load) : double(load.samples);  // images: the class token
  const double ranks = load.division.ends ? double(load.division.tensor) : 1;
  if (words && part.tensors.empty())
    kernels.matrix(tokens, double(a.vocabulary) / ranks, double(a.hidden));  // tied
  add_matrices(kernels, model, part, load, tokens, load.division.ends);
  if (words) kernels.move_bytes(tokens * double(a.vocabulary) / ranks * (kernels.size() + 4 + 8));
  add_accumulation(kernels, part, load, load.division.ends);
}

Cost one_way(const Model& model, const Part& part, const Workload& load, const Device& device,
             Direction direction) {
  Kernels kernels(load, device, direction);
  switch (part.kind) {
    case PartKind::embedding: add_embedding(kernels, model, part, load); break;
    case PartKind::attention: add_attention(kernels, model, part, load); break;
    case PartKind::mlp: add_mlp(kernels, model, part, load); break;
    case PartKind::norm: kernels.move(2 * row_elements(model, load), 3 * row_elements(model, load)); break;
    case PartKind::head: add_head(kernels, model, part, load); break;
    case PartKind::convolution: break;
  }
  return kernels.total();
}

Cost layer(const Part& part, const Workload& load, const Device& device) {
  const Cost whole = layer_list_cost(part, load, device);
  return kernel(whole.work.value, whole.memory_bytes, device, device.efficiency.matrix);
}

Cost forward(const Model& model, const Part& part, const Workload& load, const Device& device) {
  if (!model.is_transformer()) return layer(part, load, device);
  return one_way(model, part, load, device, Direction::forward);
}

Cost backward(const Model& model, const Part& part, const Workload& load, const Device& device) {
  const bool again = load.recompute == Recompute::full;
  if (!model.is_transformer()) return layer(part, load, device) * (again ? 3 : 2);
  Cost cost = one_way(model, part, load, device, Direction::backward);
  const bool in_layer = part.kind == PartKind::attention || part.kind == PartKind::mlp;
  if (again && in_layer) cost += one_way(model, part, load, device, Direction::forward);
  if (load.recompute == Recompute::selective && !load.fused_attention && part.kind == PartKind::attention) {
    Kernels scores(load, device, Direction::forward);
    add_scores(scores, model.architecture, load);
    cost += scores.total();
  }
  return cost;
}

}  // namespace

extern constinit const CostModel exact{
    .name = "exact",
    .summary =
        "every matrix, score, norm, embedding and head as a kernel, as the plan cuts them; what kernels "
        "reach "
        "of the device's peaks where its file says so",
    .forward = forward,
    .backward = backward,
};

}  // namespace dlnb::costs
