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

/// Executes the schedule on the modelled machine; deterministic.
Trace simulate(const Schedule& schedule, const Machine& machine, const Placement& placement,
               const RunSpec& spec);

}  // namespace dlnb
