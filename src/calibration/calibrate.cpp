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
std::string table_of(CollOperation operation) {
  return operation == CollOperation::send_recv ? "message" : name_of(operation);
}

/// The tables of one operation: what was measured, and how to ask for the same again.
struct Portion {
  CollSpec spec;
  std::vector<const CollRow*> rows;
};

std::vector<Portion> portions_of(const std::vector<CollTable>& measured, CollOperation operation) {
  std::vector<Portion> portions;
  for (const CollTable& table : measured) {
    Portion portion{.spec = table.spec};
    portion.spec.operations = {operation};
    for (const CollRow& row : table.rows)
      if (row.operation == operation) portion.rows.push_back(&row);
    if (!portion.rows.empty()) portions.push_back(std::move(portion));
  }
  return portions;
}

/// Every second row is fitted to; the smallest and, of an odd number, the largest size are among them.
bool is_fitted(std::size_t row) { return row % 2 == 0; }

void calibrate(const std::vector<Portion>& portions, CollOperation operation, const SimulatedTable& simulated,
               Calibration& calibration) {
  const auto times = [&](const OperationCost& cost, const Portion& portion) {
    std::vector<double> seconds;
    for (const CollRow& row : simulated(portion.spec, {{table_of(operation), cost}}).rows)
      seconds.push_back(row.time);
    DLNB_REQUIRE(seconds.size() == portion.rows.size(), "a simulated table has the rows of the measured one");
    return seconds;
  };
  std::vector<double> measured;
  for (const Portion& portion : portions)
    for (std::size_t i = 0; i < portion.rows.size(); ++i)
      if (is_fitted(i)) measured.push_back(portion.rows[i]->time);
  const OperationCost cost = fit(
      [&](const OperationCost& tried) {
        std::vector<double> modelled;
        for (const Portion& portion : portions) {
          const std::vector<double> all = times(tried, portion);
          for (std::size_t i = 0; i < all.size(); ++i)
            if (is_fitted(i)) modelled.push_back(all[i]);
        }
        return modelled;
      },
      measured);
  calibration.costs[table_of(operation)] = cost;
  for (const Portion& portion : portions) {
    const std::vector<double> modelled = times(cost, portion);
    for (std::size_t i = 0; i < modelled.size(); ++i) {
      const CollRow& row = *portion.rows[i];
      calibration.rows.push_back({operation, row.ranks, portion.spec.groups, portion.spec.grouping,
                                  row.shape.bytes, row.time, modelled[i], is_fitted(i)});
    }
  }
}

}  // namespace

Calibration calibrate(const std::vector<CollTable>& measured, const SimulatedTable& simulated) {
  Calibration calibration;
  for (int index = 0; index < coll_operations; ++index) {
    const auto operation = CollOperation(index);
    if (const std::vector<Portion> portions = portions_of(measured, operation); !portions.empty())
      calibrate(portions, operation, simulated, calibration);
  }
  return calibration;
}

}  // namespace dlnb
