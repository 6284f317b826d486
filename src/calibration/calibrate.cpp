// SPDX-License-Identifier: Apache-2.0
// Every kind of operation has three constants of its own (fit.cpp), common to all sizes, group sizes and numbers of
// groups at work at once, so that contention is the simulator's doing and not a constant's. Limits: a library that
// changes its algorithm with the size, other than the simulator does, is met on average only.
#include <algorithm>

#include <dlnb/error.hpp>

#include "calibration/calibration.hpp"
#include "calibration/fit.hpp"

namespace dlnb {
namespace {

/// What a machine file calls the kind.
std::string kind_of(CollOperation operation) {
  return operation == CollOperation::send_recv ? "message" : name_of(operation);
}

/// The tables of one operation: what was measured, and how to ask for the same again.
struct Part {
  CollSpec spec;
  std::vector<const CollRow*> rows;
};

std::vector<Part> parts_of(const std::vector<CollTable>& measured, CollOperation operation) {
  std::vector<Part> parts;
  for (const CollTable& table : measured) {
    Part part{.spec = table.spec};
    part.spec.operations = {operation};
    for (const CollRow& row : table.rows)
      if (row.operation == operation) part.rows.push_back(&row);
    if (!part.rows.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

/// Every second row is fitted to; the smallest and, of an odd number, the largest size are among them.
bool is_fitted(std::size_t row) { return row % 2 == 0; }

void calibrate(const std::vector<Part>& parts, CollOperation operation, const SimulatedTable& simulated,
               Calibration& calibration) {
  const auto times = [&](const OperationCost& cost, const Part& part) {
    std::vector<double> seconds;
    for (const CollRow& row : simulated(part.spec, {{kind_of(operation), cost}}).rows)
      seconds.push_back(row.time);
    DLNB_REQUIRE(seconds.size() == part.rows.size(), "a simulated table has the rows of the measured one");
    return seconds;
  };
  std::vector<double> measured;
  for (const Part& part : parts)
    for (std::size_t i = 0; i < part.rows.size(); ++i)
      if (is_fitted(i)) measured.push_back(part.rows[i]->time);
  const OperationCost cost = fit(
      [&](const OperationCost& tried) {
        std::vector<double> modelled;
        for (const Part& part : parts) {
          const std::vector<double> all = times(tried, part);
          for (std::size_t i = 0; i < all.size(); ++i)
            if (is_fitted(i)) modelled.push_back(all[i]);
        }
        return modelled;
      },
      measured);
  calibration.costs[kind_of(operation)] = cost;
  for (const Part& part : parts) {
    const std::vector<double> modelled = times(cost, part);
    for (std::size_t i = 0; i < modelled.size(); ++i) {
      const CollRow& row = *part.rows[i];
      calibration.rows.push_back({operation, row.ranks, part.spec.groups, part.spec.grouping, row.shape.bytes,
                                  row.time, modelled[i], is_fitted(i)});
    }
  }
}

}  // namespace

Calibration calibrate(const std::vector<CollTable>& measured, const SimulatedTable& simulated) {
  Calibration calibration;
  for (int index = 0; index < coll_operations; ++index) {
    const auto operation = CollOperation(index);
    if (const std::vector<Part> parts = parts_of(measured, operation); !parts.empty())
      calibrate(parts, operation, simulated, calibration);
  }
  return calibration;
}

}  // namespace dlnb
