// SPDX-License-Identifier: Apache-2.0
// Bytes on one rank at the worst moment of a step. Mixed precision with Adam, for p parameters of which a rank keeps
// the whole or a share, as the plan's passes say:
//   parameters p · size,  gradients p · size,  optimizer p · (4 master + 8 moments), 8 where the parameters are 32-bit
// Activations: every forward pass of a part adds what it keeps, its backward pass takes it away; the peak over the
// role's own order of micro-batches, with what the running backward pass needs besides. So the stages of 1F1B hold as
// many micro-batches as are under way, and those of GPipe all.
// Sources: Rajbhandari et al., "ZeRO", arXiv:1910.02054, section 3; Korthikanti et al., arXiv:2205.05198, section 4.
// Not counted: the context of the driver, communication libraries, the allocator's fragmentation.
#include <algorithm>

#include "schedule/draft.hpp"

namespace dlnb {
namespace {

double peak_of_activations(const std::vector<Work>& works, const Role& role) {
  double now = 0, peak = 0;
  for (const Node& node : role.nodes) {
    const Operation& op = node.operation;
    if (op.kind != OperationKind::compute || node.part == no_part) continue;
    const Work& work = works[std::size_t(node.part)];
    // A part may have been cut where gradients are reduced; each piece carries its share.
    const Cost& whole = op.phase == Phase::forward ? work.forward : work.backward;
    const double share = whole.time.value > 0 ? op.cost.time.value / whole.time.value : 1;
    if (op.phase == Phase::forward) {
      now += work.kept_bytes * share;
      peak = std::max(peak, now);
    } else if (op.phase == Phase::backward) {
      peak = std::max(peak, now + work.working_bytes);
      now -= work.kept_bytes * share;
    }
  }
  return peak;
}

}  // namespace

Memory memory_of(const Step& step, const std::vector<Work>& works, const Role& role) {
  const bool master = step.parameter_type != DataType::float32;
  return {.parameters = double(role.held) * double(size_of(step.parameter_type)),
          .gradients = double(role.summed) * double(size_of(step.gradient_type)),
          .optimizer = double(role.updated) * (master ? 12 : 8),
          .activations = peak_of_activations(works, role),
          .buffers = role.gathered_bytes};
}

}  // namespace dlnb
