// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <dlnb/error.hpp>

#include "schedule/schedule.hpp"

namespace dlnb {
namespace {

constexpr double most_bytes = 0x1p62;  // a rank moves in one step; sums of them fit 64 bits

// Counts of elements and bytes are 64-bit integers from here to the report.
void check_volume(const Schedule& schedule, double scale) {
  for (const Program& program : schedule.programs) {
    double bytes = 0;
    for (const Operation& op : program.operations)
      if (moves_data(op.kind))
        bytes += double(std::max(op.elements_sent, op.elements_received)) * double(size_of(op.dtype));
    if (bytes * scale < most_bytes) continue;
    throw UserError(scale > 1 ? "--message-scale" : "--batch",
                    fmt::format("a rank would move {:.3g} bytes in one step; at most {:.3g} can be counted",
                                bytes * scale, most_bytes),
                    scale > 1 ? "choose a smaller scale" : "make batch or sequence smaller");
  }
}

// At least one element stays, so that a scaled schedule has the same operations; scale 0 leaves empty messages.
std::int64_t scaled_elements(std::int64_t elements, double scale) {
  if (elements == 0 || scale == 0) return 0;
  return std::max<std::int64_t>(1, std::int64_t(std::round(double(elements) * scale)));
}

void scale_message(Operation& op, std::int64_t n, double scale) {
  const std::int64_t unit = scaled_elements(message_elements(op, n), scale);
  switch (op.kind) {
    case OperationKind::all_gather: op.elements_sent = unit, op.elements_received = n * unit; break;
    case OperationKind::reduce_scatter: op.elements_received = unit, op.elements_sent = n * unit; break;
    case OperationKind::all_to_all: op.elements_sent = op.elements_received = n * unit; break;
    case OperationKind::send: op.elements_sent = unit; break;
    case OperationKind::recv: op.elements_received = unit; break;
    default: op.elements_sent = op.elements_received = unit;
  }
  op.padding = std::int64_t(double(op.padding) * scale);
}

}  // namespace

Schedule scaled(Schedule schedule, double message_scale, double compute_scale) {
  check_volume(schedule, message_scale);
  if (message_scale == 1 && compute_scale == 1) return schedule;
  for (Program& program : schedule.programs)
    for (Operation& op : program.operations) {
      if (moves_data(op.kind)) scale_message(op, schedule.grid.size(op.axes), message_scale);
      op.cost = op.cost * compute_scale;
    }
  schedule.message_scale *= message_scale;
  schedule.compute_scale *= compute_scale;
  schedule.notes.push_back(
      fmt::format("SCALED: messages x {:.6g}, compute x {:.6g}; not the size of the model", message_scale,
                  compute_scale));
  return schedule;
}

}  // namespace dlnb
