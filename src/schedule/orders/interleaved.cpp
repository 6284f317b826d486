// SPDX-License-Identifier: Apache-2.0
// Interleaved 1F1B: every rank holds V virtual stages, s, s+P, …, so a pipeline of P ranks has P·V stages and a
// bubble V times smaller. Micro-batches go in rounds of M/max(1, M/P).
//   warm-up of rank r: (V-1)·round + 2(P-1-r) forwards, at most M·V
// A receive is posted on the receiver as soon as its sender has the data under way, before the receiver needs it.
//   Narayanan et al., 2021, section 2.2; order of messages as recorded from PyTorch 2.13 (test/golden/torch)
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include <dlnb/error.hpp>

#include "schedule/order.hpp"

namespace dlnb::orders {
namespace {

using enum PipelineAction::Kind;
using Slots =
    std::vector<std::optional<PipelineAction>>;  // a slot without action is a turn spent on parameters

std::vector<PipelineAction> computes_of(const Pipeline& p, int rank, int round) {
  const int total = p.chunks * p.microbatches;
  const int warm_up = std::min((p.chunks - 1) * round + 2 * (p.ranks - 1 - rank), total);
  std::vector<int> next_forward(std::size_t(p.chunks), 0), next_backward(std::size_t(p.chunks), 0);
  std::vector<PipelineAction> computes;
  const auto run_forward = [&](int step) {
    const int chunk = step / round % p.chunks;
    computes.push_back({forward, chunk * p.ranks + rank, next_forward[std::size_t(chunk)]++});
  };
  const auto run_backward = [&](int step) {
    const int chunk = p.chunks - 1 - step / round % p.chunks;
    computes.push_back({backward, chunk * p.ranks + rank, next_backward[std::size_t(chunk)]++, true});
  };

  for (int step = 0; step < warm_up; ++step) run_forward(step);
  for (int step = warm_up; step < total; ++step) {
    run_forward(step);
    run_backward(step - warm_up);
  }
  for (int step = total - warm_up; step < total; ++step) run_backward(step);
  return computes;
}

// The framework keeps the parameters of the next three virtual stages at hand; bringing or dropping a stage, and
// reducing a stage's gradients behind its last backward, each take a turn, also where nothing is sharded. Turns
// decide which receive is posted first.
Slots with_parameter_turns(const Pipeline& p, const std::vector<PipelineAction>& computes) {
  constexpr std::size_t at_hand = 3;
  Slots slots;
  std::set<int> active;
  for (std::size_t i = 0; i < computes.size(); ++i) {
    std::set<int> next;
    for (std::size_t j = i; j < computes.size() && next.size() < at_hand; ++j) next.insert(computes[j].stage);
    std::vector<int> changed;
    std::ranges::set_symmetric_difference(active, next, std::back_inserter(changed));
    slots.resize(slots.size() + changed.size());
    active = std::move(next);
    slots.emplace_back(computes[i]);
    if (computes[i].backward && computes[i].microbatch == p.microbatches - 1) slots.emplace_back();
  }
  return slots;
}

std::vector<std::vector<PipelineAction>> actions(const Pipeline& p) {
  const int rounds = std::max(1, p.microbatches / p.ranks);
  if (p.microbatches % rounds != 0)
    throw UserError("plan.pipeline.microbatches",
                    std::to_string(p.microbatches) + " micro-batches do not divide into " +
                        std::to_string(rounds) + " rounds of the interleaved order",
                    "choose a multiple of " + std::to_string(rounds));

  std::vector<Slots> waiting;
  for (int rank = 0; rank < p.ranks; ++rank)
    waiting.push_back(with_parameter_turns(p, computes_of(p, rank, p.microbatches / rounds)));

  // Ranks take turns, one slot each; a slot whose input is not under way yet is tried again in the next turn.
  std::vector<std::vector<PipelineAction>> all(static_cast<std::size_t>(p.ranks));
  std::vector<std::size_t> at(static_cast<std::size_t>(p.ranks), 0);
  std::set<std::tuple<int, int, bool>> under_way;  // stage that can start, micro-batch, backward
  const auto ready = [&](const PipelineAction& a) {
    const bool first = a.backward ? a.stage == p.stages() - 1 : a.stage == 0;
    return first || under_way.contains({a.stage, a.microbatch, a.backward});
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (int rank = 0; rank < p.ranks; ++rank) {
      const Slots& mine = waiting[std::size_t(rank)];
      std::size_t& next = at[std::size_t(rank)];
      if (next == mine.size()) continue;
      const std::optional<PipelineAction>& action = mine[next];
      if (action && !ready(*action)) continue;
      progress = true;
      ++next;
      if (!action) continue;
      all[std::size_t(rank)].push_back(*action);
      const int to = action->backward ? action->stage - 1 : action->stage + 1;
      if (to < 0 || to == p.stages()) continue;
      under_way.insert({to, action->microbatch, action->backward});
      if (to % p.ranks == rank) continue;  // both stages live here: no message
      all[std::size_t(rank)].push_back({send, action->stage, action->microbatch, action->backward, false});
      all[std::size_t(to % p.ranks)].push_back({recv, to, action->microbatch, action->backward, false});
    }
  }
  for (int rank = 0; rank < p.ranks; ++rank) {
    DLNB_REQUIRE(at[std::size_t(rank)] == waiting[std::size_t(rank)].size(),
                 "every slot of the order is taken");
    all[std::size_t(rank)].push_back({settle});
  }
  return all;
}

}  // namespace

extern constinit const PipelineOrder interleaved{
    .name = "interleaved",
    .summary = "1F1B over several virtual stages per rank, for a smaller bubble",
    .takes_chunks = true,
    .actions = actions,
};

}  // namespace dlnb::orders
