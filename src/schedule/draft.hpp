// SPDX-License-Identifier: Apache-2.0
// What the passes of a plan rewrite. It begins as one undivided step on one device, becomes one micro-batch cut
// inside its layers, then one list of nodes per pipeline role, and ends as the programs of a Schedule.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <dlnb/options.hpp>
#include <dlnb/schedule.hpp>

namespace dlnb {

/// Position of a node's part in Draft::works, for nodes that belong to none.
inline constexpr int no_part = -1;

/// An operation under planning.
struct Node {
  Operation operation;
  int part = no_part;          ///< which work it is a piece of
  int chunk = 0;               ///< which of the role's virtual stages
  int unit = nothing;          ///< the sharding unit whose parameters it computes with
  bool last_backward = false;  ///< backward of the last micro-batch: gradients become final here
  bool expert = false;         ///< communication of expert parameters or gradients
};

/// Parameters and gradients of one rank as amounts, for plans that cut the model into equal slices.
struct Amount {
  std::int64_t dense = 0;
  std::int64_t expert = 0;

  std::int64_t total() const { return dense + expert; }
};

/// One pipeline stage (or the whole model): everything its ranks do in one step.
struct Role {
  std::int64_t role = 0;
  std::vector<Node> nodes;
  std::vector<int> parts;     ///< works held, in forward order of each chunk
  Amount amount;              ///< paper flavour
  std::int64_t held = 0;      ///< parameter elements resident on one rank
  std::int64_t updated = 0;   ///< of them, those whose optimizer state it keeps
  std::int64_t summed = 0;    ///< of them, those whose gradients it keeps
  double gathered_bytes = 0;  ///< most of units and whole gradients that are there for a while only
  bool sharded = false;       ///< fsdp has reduced the gradients to shards
};

struct Draft {
  const Step& step;
  Flavour flavour = Flavour::paper;
  bool literal = false;
  ProcessGrid grid;

  std::vector<Work> works;      ///< what one rank holds, computes and hands on
  Division division;            ///< how they are cut
  std::int64_t tokens = 1;      ///< of one micro-batch on one rank
  std::int64_t kv_divisor = 1;  ///< a rank holds 1/kv_divisor of the key and value heads
  std::vector<Node> forward;    ///< one micro-batch through the whole model
  std::vector<Node> backward;

  std::int64_t microbatches = 1;
  std::vector<Role> roles;
  std::int64_t model_divisor = 1;   ///< dense parameters of a layer are cut this many times (tensor)
  std::int64_t expert_divisor = 1;  ///< expert parameters are cut this many more times (expert)
  // Besides the data axis, the axes over which gradients are reduced in the same operation:
  AxisSet paper_gradient_axes = 0;  ///< paper flavour
  AxisSet dense_gradient_axes =
      0;  ///< pytorch flavour, of parameters that every rank of an expert axis holds
  AxisSet expert_gradient_axes = 0;  ///< pytorch flavour, of experts
  std::vector<std::string> notes;
};

/// Part i of n of `total`: parts differ by at most one element and sum to the whole.
constexpr std::int64_t part_of(std::int64_t total, std::int64_t n, std::int64_t i) {
  return total / n + (i < total % n ? 1 : 0);
}
/// How many parts a pass may cut something into; far more than any use, few enough for a list in memory.
inline constexpr Range part_count{1, 1'000'000};
/// The size of n equal parts that hold `total`; n · result − total elements are padding.
constexpr std::int64_t padded_part(std::int64_t total, std::int64_t n) { return (total + n - 1) / n; }

/// One micro-batch through all works, forward and backward, nothing but compute.
/// The paper lists attention before mlp in the backward pass too; frameworks go strictly in reverse.
void draw_microbatch(Draft& draft);

/// Gives every role its share of the model's parameters as amounts.
void share_amounts(Draft& draft);

/// Splits the chosen compute nodes so that they fall into n slices of equal time, in order.
/// Returns the position behind each slice's last node.
template <class Chosen>
std::vector<std::size_t> slice_evenly(std::vector<Node>& nodes, std::int64_t n, Chosen chosen);

/// Splits node `index` in two at `fraction` of its cost; returns the index of the second half.
std::size_t split_node(std::vector<Node>& nodes, std::size_t index, double fraction);

/// What a rank of the role holds at the worst moment of a step. Source: memory.cpp.
Memory memory_of(const Step& step, const std::vector<Work>& works, const Role& role);

/// A node that waits for everything outstanding on `axes`.
Node wait_all_node(AxisSet axes, Phase phase);

/// Drops compute that costs nothing and joins neighbouring compute of one phase, micro-batch and chunk;
/// numbers the handles of non-blocking operations in order.
std::vector<Operation> finish(const std::vector<Node>& nodes);

template <class Chosen>
std::vector<std::size_t> slice_evenly(std::vector<Node>& nodes, std::int64_t n, Chosen chosen) {
  double total = 0;
  for (const Node& node : nodes)
    if (chosen(node)) total += node.operation.cost.time.value;

  std::vector<std::size_t> ends;
  double done = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < nodes.size() && std::int64_t(ends.size()) < n - 1; ++i) {
    if (!chosen(nodes[i])) continue;
    const double here = nodes[i].operation.cost.time.value;
    last = i;
    const double boundary = total * double(ends.size() + 1) / double(n);
    const double tolerance = total * 1e-9;
    if (done + here < boundary - tolerance) {
      done += here;
    } else if (done + here <= boundary + tolerance) {
      done += here;
      ends.push_back(i + 1);
    } else {
      split_node(nodes, i, (boundary - done) / here);
      done = boundary;
      ends.push_back(i + 1);
    }
  }
  for (std::size_t i = last; i < nodes.size(); ++i)
    if (chosen(nodes[i])) last = i;
  // Where nothing chosen takes any time there is nothing to cut: the slices that are left end with the last one.
  ends.resize(std::size_t(n), last + 1);
  return ends;
}

}  // namespace dlnb
