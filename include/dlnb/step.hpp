// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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

/// One part of the model with its cost for one micro-batch on one undivided device.
struct Work {
  Part part;
  Cost forward;
  Cost backward;
  std::int64_t output_elements = 0;  ///< of the activation handed to the next part, per micro-batch
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
  std::vector<std::string> notes;  ///< what a reader of the times must know

  std::int64_t microbatch_tokens() const { return batch / microbatches * sequence; }
};

}  // namespace dlnb
