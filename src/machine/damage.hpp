// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <dlnb/document.hpp>
#include <dlnb/machine.hpp>
#include <dlnb/options.hpp>

namespace dlnb {

/// The network with what the tables of `[[degraded]]` do to it: slower cables, and failed ones that routes avoid.
/// Throws UserError where a table chooses nothing or cuts an endpoint off.
std::shared_ptr<const Fabric> damage(std::shared_ptr<const Fabric> network, const Value& tables,
                                     int nics_per_node);

/// What a table of `[[degraded]]` may say.
std::vector<OptionInfo> degraded_options();

}  // namespace dlnb
