// SPDX-License-Identifier: Apache-2.0
// Context parallelism: the tokens of every sample are cut over C ranks. Each rank computes attention of its own
// queries over everybody's keys and values, which are gathered in front of it; its backward pass gathers them again
// and scatters their summed gradients (Grattafiori et al., "The Llama 3 Herd of Models", 2024, section 3.3.2).
//   all-gather, reduce-scatter: tokens · 2 · kv heads · head size elements over the axis.
// Parameters are whole on every rank, so gradients are summed over the axis too. Causal masks are assumed balanced
// (each rank has an early and a late piece of the sequence), so that compute divides evenly.
#include <dlnb/error.hpp>

#include "schedule/pass.hpp"

namespace dlnb::passes {
namespace {

void divide(Draft& draft, const PassUse& use) {
  reject_unknown(use.options, use.path, {});
  if (draft.step.architecture.hidden == 0)
    throw UserError(use.where + " " + use.path, "model '" + draft.step.model + "' has no sequence to cut",
                    "use a transformer");
  if (draft.step.sequence % use.degree != 0)
    throw UserError(use.where + " " + use.path,
                    std::to_string(draft.step.sequence) + " tokens cannot be shared evenly by " +
                        std::to_string(use.degree) + " ranks",
                    "choose a degree that divides " + std::to_string(draft.step.sequence));
  draft.tokens /= use.degree;
  draft.division.context = use.degree;
  for (Work& work : draft.works) {
    work.forward = work.forward * (1.0 / double(use.degree));
    work.backward = work.backward * (1.0 / double(use.degree));
    work.output_elements = padded_part(work.output_elements, use.degree);
  }
  if (use.degree == 1) return;
  for (AxisSet* axes : {&draft.paper_gradient_axes, &draft.dense_gradient_axes, &draft.expert_gradient_axes})
    *axes |= AxisSet{1} << use.axis;
}

Node exchange(const Draft& draft, const PassUse& use, const Node& beside, OperationKind kind) {
  const Architecture& a = draft.step.architecture;
  const std::int64_t local = draft.tokens * 2 * a.kv_heads * a.head_size / draft.kv_divisor;
  Node node = beside;
  Operation& op = node.operation;
  op.kind = kind;
  op.cost = {};
  op.axes = AxisSet{1} << use.axis;
  op.dtype = draft.step.activation_type;
  op.elements_sent = op.elements_received = local * use.degree;
  (kind == OperationKind::all_gather ? op.elements_sent : op.elements_received) = local;
  return node;
}

std::vector<Node> with_exchange(const Draft& draft, const PassUse& use, const std::vector<Node>& nodes) {
  std::vector<Node> out;
  for (const Node& node : nodes) {
    const bool attention =
        node.operation.kind == OperationKind::compute && node.operation.part == PartKind::attention;
    if (attention) out.push_back(exchange(draft, use, node, OperationKind::all_gather));
    out.push_back(node);
    if (attention && node.operation.phase == Phase::backward)
      out.push_back(exchange(draft, use, node, OperationKind::reduce_scatter));
  }
  return out;
}

void inside(Draft& draft, const PassUse& use) {
  if (use.degree == 1) return;
  draft.forward = with_exchange(draft, use, draft.forward);
  draft.backward = with_exchange(draft, use, draft.backward);
}

}  // namespace

extern constinit const Pass context{
    .name = "context",
    .summary = "tokens of a sample cut over ranks; keys and values gathered for attention",
    .degree_name = "degree",
    .place = 20,
    .brings_samples = [](Flavour) { return false; },
    .options = [](Flavour) { return std::vector<OptionInfo>{}; },
    .divide = divide,
    .inside = inside,
};

}  // namespace dlnb::passes
