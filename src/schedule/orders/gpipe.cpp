// SPDX-License-Identifier: Apache-2.0
// GPipe: every micro-batch forward, then every micro-batch backward, first to last.
//   bubble fraction (S-1)/(M+S-1) for S stages and M micro-batches of equal cost
#include "schedule/order.hpp"

namespace dlnb::orders {
namespace {

using enum PipelineAction::Kind;

std::vector<std::vector<PipelineAction>> actions(const Pipeline& pipeline) {
  const int last = pipeline.ranks - 1;
  const bool blocking = !pipeline.framework;
  std::vector<std::vector<PipelineAction>> all(static_cast<std::size_t>(pipeline.ranks));
  for (int stage = 0; stage <= last; ++stage) {
    std::vector<PipelineAction>& mine = all[std::size_t(stage)];
    for (int m = 0; m < pipeline.microbatches; ++m) {
      if (stage > 0) mine.push_back({recv, stage, m, false, true});
      mine.push_back({forward, stage, m});
      if (stage < last) mine.push_back({send, stage, m, false, blocking});
    }
    if (!blocking && stage < last) mine.push_back({settle});
    for (int m = 0; m < pipeline.microbatches; ++m) {
      if (stage < last) mine.push_back({recv, stage, m, true, true});
      mine.push_back({backward, stage, m, true});
      if (stage > 0) mine.push_back({send, stage, m, true, blocking});
    }
    if (!blocking && stage > 0) mine.push_back({settle});
  }
  return all;
}

}  // namespace

extern constinit const PipelineOrder gpipe{
    .name = "gpipe",
    .summary = "all micro-batches forward, then all backward",
    .takes_chunks = false,
    .actions = actions,
};

}  // namespace dlnb::orders
