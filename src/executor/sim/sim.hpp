// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include <dlnb/machine.hpp>
#include <dlnb/registry.hpp>
#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>
#include <dlnb/trace.hpp>

namespace dlnb {

/// A job on the modelled machine.
struct SimulatedJob {
  const Schedule& schedule;
  const Placement& placement;
  const RunSpec& spec;
  Seconds start{0};
  bool repeats = false;  ///< goes on until the others have finished; what it then has measured counts
};

/// Executes the schedules side by side; one trace each, all on one clock. The first job's network shares the links.
/// Deterministic. Throws UserError where all jobs repeat, or one has not measured anything before the others ended.
/// `fold`: symmetric replicas are simulated once where that changes nothing.
std::vector<Trace> simulate(const std::vector<SimulatedJob>& jobs, const Machine& machine, bool fold = true);

/// Executes one schedule on the modelled machine.
Trace simulate(const Schedule& schedule, const Machine& machine, const Placement& placement,
               const RunSpec& spec);

}  // namespace dlnb
