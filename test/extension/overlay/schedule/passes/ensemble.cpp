// SPDX-License-Identifier: Apache-2.0
// Independent trainings side by side, each on its own ranks and samples; they meet once a step, so that none
// runs ahead.
#include <dlnb/error.hpp>

#include "schedule/pass.hpp"

namespace dlnb::passes {
namespace {

void around(Draft& draft, const PassUse& use) {
  reject_unknown(use.options, use.path, {});
  if (use.degree == 1) return;
  Node meet;
  meet.operation.kind = OperationKind::barrier;
  meet.operation.phase = Phase::synchronise;
  meet.operation.axes = AxisSet{1} << use.axis;
  for (Role& role : draft.roles) role.nodes.push_back(meet);
}

}  // namespace

extern constinit const Pass ensemble{
    .name = "ensemble",
    .summary = "independent trainings that meet in a barrier after every step",
    .degree_name = "degree",
    .place = 70,
    .brings_samples = [](Flavour) { return true; },
    .options = [](Flavour) { return std::vector<OptionInfo>{}; },
    .around = around,
};

}  // namespace dlnb::passes
