// SPDX-License-Identifier: Apache-2.0
// Expert parallelism: the experts of every mixture layer are dealt out over E ranks. Tokens travel to their experts
// in front of the mlp and back behind it (Shazeer et al., 2017).
//   all-to-all: tokens · hidden · active experts elements per rank, 1/E of it to each peer (even routing assumed).
// Every rank routes its own samples; the paper counts the ranks of one expert axis as one replica all the same.
// The backward pass returns gradients the same two ways. Dense gradients are summed over the expert axis as well.
#include <dlnb/error.hpp>

#include "schedule/pass.hpp"

namespace dlnb::passes {
namespace {

Node all_to_all(const Draft& draft, const PassUse& use, const Node& beside) {
  const Step& step = draft.step;
  const std::int64_t whole = draft.tokens * step.architecture.hidden * step.architecture.experts_active;
  const std::int64_t padded = padded_part(whole, use.degree) * use.degree;
  Node node = beside;
  node.operation.kind = OperationKind::all_to_all;
  node.operation.cost = {};
  node.operation.axes = AxisSet{1} << use.axis;
  node.operation.dtype = step.activation_type;
  node.operation.elements_sent = node.operation.elements_received = padded;
  node.operation.padding = padded - whole;
  return node;
}

bool is_mixture(const Work& work) {
  for (const Tensor& tensor : work.part.tensors)
    if (tensor.expert) return true;
  return false;
}

// Attention is the last thing before dispatch, mlp the last before combine; backward they trade places.
// The communication of inner passes (tensor) belongs to the part and stays in front of the exchange.
std::vector<Node> with_exchange(const Draft& draft, const PassUse& use, const std::vector<Node>& nodes,
                                const std::vector<bool>& exchanges) {
  std::vector<Node> out;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    out.push_back(nodes[i]);
    const bool part_ends = i + 1 == nodes.size() || nodes[i + 1].part != nodes[i].part;
    const int part = nodes[i].part;
    if (part_ends && part != no_part && exchanges[std::size_t(part)])
      out.push_back(all_to_all(draft, use, nodes[i]));
  }
  return out;
}

void divide(Draft& draft, const PassUse& use) {
  reject_unknown(use.options, use.path, {});
  const Architecture& a = draft.step.architecture;
  if (a.experts < 2)
    throw UserError(use.where + " " + use.path, "model '" + draft.step.model + "' has no experts",
                    "use a mixture of experts such as mixtral-8x7b");
  if (a.experts % use.degree != 0)
    throw UserError(use.where + " " + use.path,
                    std::to_string(a.experts) + " experts cannot be shared evenly by " +
                        std::to_string(use.degree) + " ranks",
                    "choose a degree that divides " + std::to_string(a.experts));
  for (Work& work : draft.works)
    for (Tensor& tensor : work.part.tensors)
      if (tensor.expert) tensor.copies /= use.degree;
  draft.expert_divisor *= use.degree;
  draft.division.expert = use.degree;
  if (use.degree > 1) draft.dense_gradient_axes |= AxisSet{1} << use.axis;
}

void inside(Draft& draft, const PassUse& use) {
  if (use.degree == 1) return;
  std::vector<bool> exchanges(draft.works.size(), false);
  for (std::size_t i = 0; i < draft.works.size(); ++i) {
    if (!is_mixture(draft.works[i])) continue;
    exchanges[i] = true;
    if (i > 0 && draft.works[i - 1].part.kind == PartKind::attention) exchanges[i - 1] = true;
  }
  draft.forward = with_exchange(draft, use, draft.forward, exchanges);
  draft.backward = with_exchange(draft, use, draft.backward, exchanges);
}

// The paper sums dense gradients over the expert axis in a step of its own; frameworks fold that axis into the
// data-parallel group, which the data pass does by dense_gradient_axes.
void around(Draft& draft, const PassUse& use) {
  if (draft.flavour != Flavour::paper || use.degree == 1) return;
  for (Role& role : draft.roles) {
    if (role.sharded) continue;
    Node node;
    node.operation.kind = OperationKind::all_reduce;
    node.operation.phase = Phase::synchronise;
    node.operation.axes = AxisSet{1} << use.axis;
    node.operation.dtype = draft.step.gradient_type;
    node.operation.elements_sent = node.operation.elements_received = role.amount.dense;
    role.nodes.push_back(node);
  }
}

std::vector<OptionInfo> infos(Flavour) { return {}; }

}  // namespace

extern constinit const Pass expert{
    .name = "expert",
    .summary = "experts dealt out over ranks; tokens exchanged in front of and behind every mixture layer",
    .degree_name = "degree",
    .place = 30,
    .brings_samples = [](Flavour flavour) { return flavour == Flavour::pytorch; },
    .options = infos,
    .divide = divide,
    .inside = inside,
    .around = around,
};

}  // namespace dlnb::passes
