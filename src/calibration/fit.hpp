// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <dlnb/machine.hpp>

namespace dlnb {

/// The simulated times of some operations of one kind, seconds, were their cost this.
using TimesOfCost = std::function<std::vector<double>(const OperationCost&)>;

/// The cost for which the model comes nearest to the measured times: the least sum of relative errors, start and step not
/// negative. `measured` > 0, as many as the model gives.
OperationCost fit(const TimesOfCost& model, std::span<const double> measured);

}  // namespace dlnb
