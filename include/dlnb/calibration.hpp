// SPDX-License-Identifier: Apache-2.0
// What measuring a machine's collectives makes of it: the constants of a machine file, and how well they describe what
// was measured.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <dlnb/coll.hpp>
#include <dlnb/machine.hpp>

namespace dlnb {

/// One measurement beside its model.
struct CalibrationRow {
  CollOperation operation = CollOperation::all_reduce;
  std::int64_t ranks = 1;   ///< of one group
  std::int64_t groups = 1;  ///< at work at once
  Grouping grouping = Grouping::contiguous;
  std::int64_t bytes = 0;
  double measured = 0;  ///< seconds
  double modelled = 0;
  bool fitted = false;  ///< the constants were fitted to it; else it only checks them

  double error() const { return modelled / measured - 1; }
};

struct Calibration {
  std::map<std::string, OperationCost, std::less<>> costs;  ///< for Software::measured
  std::vector<CalibrationRow> rows;
};

}  // namespace dlnb
