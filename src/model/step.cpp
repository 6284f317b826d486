// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "model/activations.hpp"
#include "model/model.hpp"
#include "model/roofline.hpp"

namespace dlnb {
namespace {

// Where the user wrote a value, or the option that would set it.
std::string where_of(const RunSpec& spec, std::string_view key, std::string_view option) {
  const Value* value = spec.origin.find_path(key);
  if (!value || value->where().empty() || value->where() == option) return std::string(option);
  return fmt::format("{} {}", value->where(), key);
}

// A learned table of positions bounds the sequence; an image fixes it.
std::int64_t sequence_of(const Model& model, const RunSpec& spec) {
  const std::int64_t own = model.is_transformer() ? model.architecture.sequence : 1;
  if (spec.sequence == 0 || spec.sequence == own) return own;
  const std::string where = where_of(spec, "sequence", "--sequence");
  if (spec.sequence < 0)
    throw UserError(where, fmt::format("{} tokens per sample", spec.sequence), "expected at least 1");
  if (model.sample == "image")
    throw UserError(where, fmt::format("an image of {} has {} tokens", model.name, own),
                    "leave the sequence out");
  for (const Tensor& tensor : model.parts.front().tensors)
    if (tensor.name == "position.weight" && spec.sequence > tensor.rows)
      throw UserError(
          where, fmt::format("{} has learned {} positions, not {}", model.name, tensor.rows, spec.sequence),
          fmt::format("expected at most {}", tensor.rows));
  return spec.sequence;
}

std::int64_t microbatch_of(const RunSpec& spec, std::int64_t microbatches) {
  const std::string where = where_of(spec, "batch", "--batch");
  DLNB_REQUIRE(microbatches >= 1, "a plan has at least one micro-batch");
  if (spec.batch < 1)
    throw UserError(where, fmt::format("a batch of {} samples", spec.batch), "expected at least 1");
  if (spec.batch % microbatches != 0)
    throw UserError(where,
                    fmt::format("{} samples do not divide into {} micro-batches", spec.batch, microbatches),
                    fmt::format("choose a multiple of {}", microbatches));
  return spec.batch / microbatches;
}

constexpr std::int64_t most_elements = std::int64_t{1} << 53;  // of an activation; exact in JSON as well

std::int64_t product(std::int64_t a, std::int64_t b, const RunSpec& spec) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result > most_elements)
    throw UserError(where_of(spec, "batch", "--batch"),
                    fmt::format("an activation has more than {} elements", most_elements),
                    "make batch or sequence smaller");
  return result;
}

std::vector<std::string> notes_of(const Model& model, const Device& device, const RunSpec& spec) {
  std::vector<std::string> notes;
  if (spec.cost_model == "exact" && device.efficiency.source.empty())
    notes.push_back(
        fmt::format("{} states no efficiency curve: kernels run at the datasheet peak", device.name));
  if (spec.cost_model == "exact" && !device.efficiency.source.empty())
    notes.push_back(fmt::format("efficiency curve of {}: {}", device.name, device.efficiency.source));
  if (!model.is_transformer())
    notes.push_back("compute: 2 FLOPs per multiply-add of the convolutions and linear layers");
  if (size_of(spec.dtype) != size_of(device.peak_type))
    notes.push_back(fmt::format("compute in {} is timed with the {} peak of {}", name_of(spec.dtype),
                                name_of(device.peak_type), device.name));
  return notes;
}

Recompute recompute_of(const RunSpec& spec) {
  if (spec.recompute == "none") return Recompute::none;
  if (spec.recompute == "selective") return Recompute::selective;
  if (spec.recompute == "full") return Recompute::full;
  throw UserError(where_of(spec, "recompute", "--recompute"),
                  fmt::format("there is no recomputation '{}'", spec.recompute),
                  "choose none, selective or full");
}

// The passes scale the costs of `paper`; those of `exact` follow from the sizes that are left of every kernel.
auto pricing(const Model& model, const Device& device, const CostModel& costs, const Workload& load) {
  const bool exact = costs.name == "exact";
  return [model = std::make_shared<const Model>(model), device, &costs, load, exact](
             const Division& division, std::vector<Work>& works) {
    Workload cut = load;
    cut.division = division;
    for (std::size_t i = 0; i < works.size(); ++i) {
      const Part& part = model->parts[i];
      const Activations activations = activations_of(*model, part, cut);
      works[i].kept_bytes = activations.kept;
      works[i].working_bytes = activations.working;
      if (!exact) continue;
      works[i].forward = costs.forward(*model, part, cut, device);
      works[i].backward = costs.backward(*model, part, cut, device);
    }
  };
}

}  // namespace

Step make_step(const Model& model, const Device& device, const RunSpec& spec, std::int64_t microbatches) {
  const CostModel& costs =
      entry_called(costs::all(), spec.cost_model, where_of(spec, "cost_model", "--cost-model"));
  const bool exact = spec.cost_model == "exact";
  const Recompute recompute = recompute_of(spec);
  if (recompute != Recompute::none && !exact)
    throw UserError(where_of(spec, "recompute", "--recompute"),
                    fmt::format("the {} cost model has no activation recomputation", spec.cost_model),
                    "add --cost-model exact");
  const std::int64_t samples = microbatch_of(spec, microbatches);
  const std::int64_t sequence = sequence_of(model, spec);

  Step step;
  step.model = model.name;
  step.device = device.name;
  step.cost_model = spec.cost_model;
  step.architecture = model.architecture;
  step.batch = spec.batch;
  step.microbatches = microbatches;
  step.sequence = sequence;
  step.parameters = model.parameters();
  step.expert_parameters = model.expert_parameters();
  step.activation_type = spec.dtype;
  step.parameter_type = spec.dtype;
  step.gradient_type = spec.gradient_dtype;
  step.notes = notes_of(model, device, spec);
  if (exact) step.optimizer = adam_step(step.parameters, spec.dtype, spec.gradient_dtype, device);

  const Workload load{.samples = samples,
                      .sequence = sequence,
                      .dtype = spec.dtype,
                      .recompute = recompute,
                      .fused_attention = spec.fused_attention,
                      .gradient_dtype = spec.gradient_dtype,
                      .accumulates = microbatches > 1};
  const std::int64_t tokens = product(spec.batch, sequence, spec) / microbatches;
  step.works.reserve(model.parts.size());
  for (const Part& part : model.parts) {
    const std::int64_t output = model.is_transformer() ? product(tokens, model.architecture.hidden, spec)
                                                       : product(samples, part.output_elements, spec);
    step.works.push_back(
        {part, costs.forward(model, part, load, device), costs.backward(model, part, load, device), output});
  }
  step.device_memory = device.memory.value;
  step.price = pricing(model, device, costs, load);
  return step;
}

}  // namespace dlnb
