// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <dlnb/calibration.hpp>

namespace dlnb {

using MeasuredCosts = std::map<std::string, OperationCost, std::less<>>;

/// The table a machine of one structure gives for a spec, were these its costs.
using SimulatedTable = std::function<CollTable(const CollSpec&, const MeasuredCosts&)>;

/// The costs of every kind of operation in the tables: fitted to every second size, checked on the others.
Calibration calibrate(const std::vector<CollTable>& measured, const SimulatedTable& simulated);

}  // namespace dlnb
