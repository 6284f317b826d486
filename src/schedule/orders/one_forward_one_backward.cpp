// SPDX-License-Identifier: Apache-2.0
// 1F1B: stage s runs S-s forwards, then alternates one backward and one forward, then drains the backwards.
// Same bubble as GPipe, but at most S-s activations are alive. Neighbours exchange an activation and a gradient
// in one go, so sends never block.
//   Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", 2021
#include "schedule/order.hpp"

#include <algorithm>

namespace dlnb::orders {
namespace {

using enum PipelineAction::Kind;

std::vector<PipelineAction> actions_of(const Pipeline& pipeline, int stage) {
  const int last = pipeline.ranks - 1;
  const int warm_up = std::min(pipeline.microbatches, pipeline.ranks - stage);
  std::vector<PipelineAction> mine;
  const auto receive = [&](int m, bool gradient) {
    if (gradient ? stage < last : stage > 0) mine.push_back({recv, stage, m, gradient, true});
  };
  const auto give = [&](int m, bool gradient) {
    if (gradient ? stage > 0 : stage < last) mine.push_back({send, stage, m, gradient, false});
  };

  for (int m = 0; m < warm_up; ++m) {
    receive(m, false);
    mine.push_back({forward, stage, m});
    if (m + 1 < warm_up) give(m, false);
  }
  int forwards = warm_up, backwards = 0;
  while (true) {
    give(forwards - 1, false);
    receive(backwards, true);
    mine.push_back({settle});
    mine.push_back({backward, stage, backwards, true});
    ++backwards;
    if (forwards == pipeline.microbatches) break;
    give(backwards - 1, true);
    receive(forwards, false);
    mine.push_back({settle});
    mine.push_back({forward, stage, forwards});
    ++forwards;
  }
  give(backwards - 1, true);
  for (; backwards < pipeline.microbatches; ++backwards) {
    receive(backwards, true);
    mine.push_back({backward, stage, backwards, true});
    give(backwards, true);
  }
  mine.push_back({settle});
  return mine;
}

std::vector<std::vector<PipelineAction>> actions(const Pipeline& pipeline) {
  std::vector<std::vector<PipelineAction>> all;
  for (int stage = 0; stage < pipeline.ranks; ++stage) all.push_back(actions_of(pipeline, stage));
  return all;
}

}  // namespace

extern constinit const PipelineOrder one_forward_one_backward{
    .name = "1f1b",
    .summary = "one backward after each forward, fewest live activations",
    .takes_chunks = false,
    .actions = actions,
};

}  // namespace dlnb::orders
