// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <dlnb/model.hpp>
#include <dlnb/units.hpp>

namespace dlnb {

/// What a compute phase costs on one device; additive.
struct Cost {
  Flops work;
  double memory_bytes = 0;
  Seconds time;

  Cost& operator+=(const Cost& other) {
    work += other.work, memory_bytes += other.memory_bytes, time += other.time;
    return *this;
  }
  friend Cost operator+(Cost a, const Cost& b) { return a += b; }
  friend Cost operator*(Cost c, double f) { return {{c.work.value * f}, c.memory_bytes * f, c.time * f}; }
};

/// How a plan cuts what is inside a layer: the ranks over which each dimension is shared.
struct Division {
  std::int64_t tensor = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;
  bool sequence_parallel = false;  ///< norms and residuals see 1/tensor of the tokens
  bool regathers = false;          ///< what is gathered for a part is not kept for its backward pass
  bool ends = false;               ///< embedding and head are cut by `tensor` too
};

/// One part of the model with its cost for one micro-batch.
struct Work {
  Part part;
  Cost forward;
  Cost backward;
  std::int64_t output_elements = 0;  ///< of the activation handed to the next part, per micro-batch
  double kept_bytes = 0;             ///< activations from forward to backward, per micro-batch on one rank
  double working_bytes = 0;          ///< besides them, while its backward pass runs
};

/// One training step on one device before any parallel plan: the input of the passes.
struct Step {
  std::string model;
  std::string device;
  std::string cost_model;  ///< "paper" or "exact"
  Architecture architecture;
  std::vector<Work> works;  ///< forward order
  std::int64_t batch = 1;   ///< samples per replica and step
  std::int64_t microbatches = 1;
  std::int64_t sequence = 1;  ///< tokens per sample (1 where samples are images without tokens)
  std::int64_t parameters = 0;
  std::int64_t expert_parameters = 0;
  DataType activation_type = DataType::bfloat16;
  DataType parameter_type = DataType::bfloat16;  ///< of gathered parameters
  DataType gradient_type = DataType::bfloat16;   ///< of reduced gradients
  Cost optimizer;  ///< of all `parameters`; a rank pays its share. Zero in the `paper` cost model
  /// Fills the memory of works that are cut like this and, in the `exact` cost model, their costs.
  std::function<void(const Division&, std::vector<Work>&)> price;
  std::int64_t device_memory = 0;  ///< bytes
  std::vector<std::string> notes;  ///< what a reader of the times must know

  std::int64_t microbatch_tokens() const { return batch / microbatches * sequence; }
};

}  // namespace dlnb
