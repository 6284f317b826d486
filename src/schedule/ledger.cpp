// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <tuple>

#include "schedule/schedule.hpp"

namespace dlnb {

Ledger ledger_of(const Schedule& schedule) {
  Ledger ledger;
  for (const Program& program : schedule.programs) {
    // Rows in the order in which their first operation is issued.
    std::map<std::tuple<AxisSet, OperationKind, Phase, DataType, std::int64_t>, std::size_t> row_of;
    for (const Operation& op : program.operations) {
      if (!moves_data(op.kind)) continue;
      const std::int64_t n = schedule.grid.size(op.axes);
      const std::int64_t each = message_elements(op, n) * size_of(op.dtype);
      const auto [row, added] =
          row_of.try_emplace({op.axes, op.kind, op.phase, op.dtype, each}, ledger.size());
      if (added)
        ledger.push_back({.role = program.role,
                          .axis = schedule.grid.text(op.axes),
                          .kind = op.kind,
                          .phase = op.phase,
                          .dtype = op.dtype,
                          .group_size = n,
                          .bytes_each = each});
      LedgerRow& entry = ledger[row->second];
      ++entry.count;
      entry.bytes_total += each;
      entry.padding_bytes += op.padding * size_of(op.dtype);
    }
  }
  return ledger;
}

}  // namespace dlnb
