// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <dlnb/device.hpp>
#include <dlnb/model.hpp>
#include <dlnb/registry.hpp>
#include <dlnb/spec.hpp>
#include <dlnb/step.hpp>

namespace dlnb {

/// A shipped model by name, a model TOML file, or a HuggingFace config.json. `where` names the option in errors.
Model load_model(const std::string& name_or_file, const std::string& where);
std::vector<std::string> shipped_models();

/// Activations that the backward pass computes again instead of finding them in memory.
enum class Recompute : std::uint8_t { none, selective, full };

/// What one part costs on one device for one micro-batch.
struct Workload {
  std::int64_t samples = 1;   ///< per micro-batch
  std::int64_t sequence = 1;  ///< tokens per sample
  DataType dtype = DataType::bfloat16;
  Recompute recompute = Recompute::none;
  bool fused_attention = true;
  DataType gradient_dtype = DataType::bfloat16;
  bool accumulates = false;  ///< gradients of several micro-batches are summed
  Division division;         ///< `exact` only; the plan's passes divide the costs of `paper`
};

/// A way to turn a part into FLOPs, bytes and time. One file each in costs/.
struct CostModel {
  std::string_view name;
  std::string_view summary;
  Cost (*forward)(const Model&, const Part&, const Workload&, const Device&);
  Cost (*backward)(const Model&, const Part&, const Workload&, const Device&);
};
namespace costs {
Registry<CostModel> all();
}

/// One training step on one undivided device, in micro-batches.
/// Throws UserError where the batch does not divide into micro-batches.
Step make_step(const Model& model, const Device& device, const RunSpec& spec, std::int64_t microbatches);

}  // namespace dlnb
