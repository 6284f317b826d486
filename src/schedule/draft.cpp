// SPDX-License-Identifier: Apache-2.0
#include "schedule/draft.hpp"

#include <algorithm>
#include <map>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

Node compute_node(const Draft& draft, int part, Phase phase) {
  const Work& work = draft.works[std::size_t(part)];
  Node node;
  node.part = part;
  node.operation.kind = OperationKind::compute;
  node.operation.phase = phase;
  node.operation.part = work.part.kind;
  node.operation.has_part = true;
  node.operation.layer = work.part.layer;
  node.operation.cost = phase == Phase::forward ? work.forward : work.backward;
  return node;
}

bool joins(const Node& a, const Node& b) {
  return a.operation.kind == OperationKind::compute && b.operation.kind == OperationKind::compute &&
         a.operation.phase == b.operation.phase && a.operation.microbatch == b.operation.microbatch &&
         a.chunk == b.chunk;
}

void join(Operation& into, const Operation& next) {
  into.cost += next.cost;
  if (into.layer != next.layer) into.layer = nothing;
  if (!next.has_part || into.part != next.part || into.layer == nothing) into.has_part = false;
}

bool costs_nothing(const Operation& operation) {
  return operation.kind == OperationKind::compute && operation.cost.time.value == 0 &&
         operation.cost.work.value == 0 && operation.cost.memory_bytes == 0;
}

}  // namespace

void draw_microbatch(Draft& draft) {
  const int parts = int(draft.works.size());
  for (int part = 0; part < parts; ++part) draft.forward.push_back(compute_node(draft, part, Phase::forward));

  for (int part = parts - 1; part >= 0; --part)
    draft.backward.push_back(compute_node(draft, part, Phase::backward));
  if (draft.flavour == Flavour::paper) {
    // The paper lists attention before mlp inside a layer in the backward pass as well (Algorithms 4 and 5).
    for (std::size_t i = 0; i + 1 < draft.backward.size(); ++i) {
      const Operation& a = draft.backward[i].operation;
      const Operation& b = draft.backward[i + 1].operation;
      if (a.layer >= 0 && a.layer == b.layer && a.part == PartKind::mlp && b.part == PartKind::attention)
        std::swap(draft.backward[i], draft.backward[i + 1]);
    }
  }
}

void share_amounts(Draft& draft) {
  const Step& step = draft.step;
  const std::int64_t roles = std::int64_t(draft.roles.size());
  std::int64_t padding = 0;
  for (Role& role : draft.roles) {
    const std::int64_t dense = part_of(step.parameters - step.expert_parameters, roles, role.role);
    const std::int64_t expert = part_of(step.expert_parameters, roles, role.role);
    role.amount.dense = padded_part(dense, draft.model_divisor);
    role.amount.expert = padded_part(expert, draft.model_divisor * draft.expert_divisor);
    padding += role.amount.dense * draft.model_divisor - dense +
               role.amount.expert * draft.model_divisor * draft.expert_divisor - expert;
  }
  if (padding > 0)
    draft.notes.push_back("parameters do not divide evenly over the model axes: " + std::to_string(padding) +
                          " elements of padding per replica");
}

std::size_t split_node(std::vector<Node>& nodes, std::size_t index, double fraction) {
  DLNB_REQUIRE(nodes[index].operation.kind == OperationKind::compute, "only compute can be cut");
  nodes[index].operation.has_part = false;
  Node second = nodes[index];
  second.operation.cost = second.operation.cost * (1 - fraction);
  nodes[index].operation.cost = nodes[index].operation.cost * fraction;
  nodes.insert(nodes.begin() + std::ptrdiff_t(index) + 1, second);
  return index + 1;
}

Node wait_all_node(AxisSet axes, Phase phase) {
  Node node;
  node.operation.kind = OperationKind::wait_all;
  node.operation.phase = phase;
  node.operation.axes = axes;
  return node;
}

std::vector<Operation> finish(const std::vector<Node>& nodes) {
  std::vector<Operation> operations;
  std::map<std::int32_t, std::int32_t> number;  // draft handle → final handle
  std::map<AxisSet, int> outstanding;
  const Node* before = nullptr;
  for (const Node& node : nodes) {
    const Operation& op = node.operation;
    if (costs_nothing(op)) continue;
    if (before && joins(*before, node)) {
      join(operations.back(), op);
      continue;
    }
    if (op.kind == OperationKind::wait_all && std::exchange(outstanding[op.axes], 0) == 0) continue;
    if (op.kind == OperationKind::wait) --outstanding[op.axes];
    before = &node;
    operations.push_back(op);
    Operation& added = operations.back();
    if (op.kind == OperationKind::wait) {
      added.handle = number.at(op.handle);
    } else if (moves_data(op.kind) && !op.blocking) {
      const std::int32_t next = std::int32_t(number.size());
      // Operations that only wait_all collects carry no draft handle of their own: give each a private key.
      number.emplace(op.handle == nothing ? -2 - next : op.handle, next);
      added.handle = next;
      ++outstanding[op.axes];
    }
  }
  return operations;
}

}  // namespace dlnb
