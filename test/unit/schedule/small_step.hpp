// SPDX-License-Identifier: Apache-2.0
// A transformer small enough for pencil and paper: hidden 8, 4 heads, 2 kv heads of size 2, feed-forward 16.
#pragma once

#include <string>

#include "schedule/schedule.hpp"

namespace dlnb::test {

struct SmallStep {
  int layers = 4;
  std::int64_t microbatches = 1;
  std::int64_t experts = 1;
};

inline Work work_of(PartKind kind, int layer, std::vector<Tensor> tensors, double seconds) {
  Work work;
  work.part = {.kind = kind, .layer = layer, .tensors = std::move(tensors)};
  work.forward = {{seconds * 1e9}, 0, {seconds}};
  work.backward = work.forward * 2;
  return work;
}

/// Attention and mlp take 1 s forward and 2 s backward per micro-batch; everything else takes no time.
inline Step small_step(SmallStep small = {}) {
  Step step;
  step.model = "small";
  step.batch = 8 * small.microbatches;
  step.microbatches = small.microbatches;
  step.sequence = 4;
  step.architecture = {.layers = small.layers,
                       .hidden = 8,
                       .heads = 4,
                       .kv_heads = 2,
                       .head_size = 2,
                       .feed_forward = 16,
                       .vocabulary = 32,
                       .sequence = 4,
                       .experts = small.experts,
                       .experts_active = small.experts > 1 ? 2 : 1,
                       .gated = true,
                       .causal = true};
  const bool mixture = small.experts > 1;
  step.works.push_back(work_of(PartKind::embedding, -1, {{"embed", 32, 8, Cut::rows}}, 0));
  for (int layer = 0; layer < small.layers; ++layer) {
    step.works.push_back(work_of(PartKind::attention, layer,
                                 {{"norm1", 8},
                                  {"q", 8, 8, Cut::rows},
                                  {"k", 4, 8, Cut::rows},
                                  {"v", 4, 8, Cut::rows},
                                  {"o", 8, 8, Cut::columns}},
                                 1));
    step.works.push_back(work_of(PartKind::mlp, layer,
                                 {{"norm2", 8},
                                  {"gate", 16, 8, Cut::rows, mixture, small.experts},
                                  {"up", 16, 8, Cut::rows, mixture, small.experts},
                                  {"down", 8, 16, Cut::columns, mixture, small.experts}},
                                 1));
  }
  step.works.push_back(work_of(PartKind::norm, -1, {{"norm", 8}}, 0));
  step.works.push_back(work_of(PartKind::head, -1, {{"head", 32, 8, Cut::rows}}, 0));
  for (Work& work : step.works) {
    work.output_elements = step.microbatch_tokens() * 8;
    for (const Tensor& tensor : work.part.tensors) {
      step.parameters += tensor.elements();
      if (tensor.expert) step.expert_parameters += tensor.elements();
    }
  }
  return step;
}

inline PlanSpec plan_of(const std::string& toml, Flavour flavour = Flavour::pytorch) {
  PlanSpec plan{.name = toml, .flavour = flavour};
  const Value table = parse_toml(toml, "plan.toml");
  for (const auto& [pass, options] : table.table()) plan.passes.push_back({pass, options});
  return plan;
}

/// Compiles with as many micro-batches as the plan asks for.
inline Schedule compiled(const std::string& toml, std::int64_t ranks, Flavour flavour = Flavour::pytorch,
                         SmallStep small = {}) {
  const PlanSpec plan = plan_of(toml, flavour);
  small.microbatches = microbatches_of(plan);
  return compile(small_step(small), plan, ranks);
}

inline std::int64_t count(const Schedule& s, std::size_t role, OperationKind kind, const std::string& axis) {
  std::int64_t n = 0;
  for (const Operation& op : s.programs[role].operations)
    n += op.kind == kind && s.grid.text(op.axes) == axis;
  return n;
}

}  // namespace dlnb::test
