// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/coll.hpp>
#include <dlnb/machine.hpp>

namespace dlnb {

/// The collective benchmark on a modelled machine; deterministic. Throws Unavailable (all-to-all-v) and UserError
/// (overlap) for what has no model.
CollTable simulate(const CollSpec& spec, const Machine& machine, const Placement& placement);

}  // namespace dlnb
