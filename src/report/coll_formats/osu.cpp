// SPDX-License-Identifier: Apache-2.0
// The layout of the OSU micro-benchmarks 7 with their option -f: a size of 10 columns, then times of 18 with two
// decimals, iterations of 12. With --overlap that of their non-blocking benchmarks. One table per operation, type and
// form; sizes and times as OSU defines them (dlnb/coll.hpp), unless the table was measured by other definitions.
#include <fmt/format.h>

#include "report/coll_report.hpp"

namespace dlnb::coll_formats {
namespace {

std::string title_of(CollOperation operation, const CollSpec& spec) {
  const char* name = "";
  switch (operation) {
    case CollOperation::all_reduce: name = "Allreduce"; break;
    case CollOperation::all_gather: name = "Allgather"; break;
    case CollOperation::reduce_scatter: name = "Reduce_scatter"; break;
    case CollOperation::all_to_all: name = "All-to-All"; break;
    case CollOperation::all_to_all_v: name = "All-to-Allv"; break;
    case CollOperation::broadcast: name = "Broadcast"; break;
    case CollOperation::barrier: name = "Barrier"; break;
    case CollOperation::send_recv: return "OSU MPI Latency Test v7.5";
  }
  return fmt::format("OSU MPI {}{} Latency Test v7.5", spec.overlap ? "Non-blocking " : "", name);
}

std::string row_of(const CollRow& row, const CollSpec& spec) {
  const bool has_size = row.operation != CollOperation::barrier;
  const double us = 1e6;
  std::string text = has_size ? fmt::format("{:<10}", row.shape.message) : "";
  if (spec.overlap) {
    if (!row.overlap) return "# " + text + " no overlap was measured: see the notes\n";
    text += fmt::format("{:{}.2f}{:18.2f}{:18.2f}{:18.2f}", row.overlap->overall * us, has_size ? 18 : 17,
                        row.overlap->compute * us, row.overlap->pure * us, row.overlap->share * 100);
  } else {
    text += fmt::format("{:{}.2f}{:18.2f}{:18.2f}{:12}", row.time * us, has_size ? 18 : 17, row.low * us,
                        row.high * us, row.iterations);
  }
  if (row.wrong) text += fmt::format("{:>18}", *row.wrong > 0 ? "Fail" : "Pass");
  return text + "\n";
}

std::string head_of(const CollBlock& block, const CollSpec& spec) {
  std::string text = block.operation == CollOperation::barrier ? "# " : fmt::format("{:<10}", "# Size");
  const int first = block.operation == CollOperation::barrier ? 15 : 18;
  if (spec.overlap)
    text += fmt::format("{:>{}}{:>18}{:>18}{:>18}", "Overall(us)", first, "Compute(us)", "Pure Comm.(us)",
                        "Overlap(%)");
  else
    text += fmt::format("{:>{}}{:>18}{:>18}{:>12}", "Avg Latency(us)", first, "Min Latency(us)",
                        "Max Latency(us)", "Iterations");
  if (spec.verify) text += fmt::format("{:>18}", "Validation");
  return text + "\n";
}

std::string write(const CollTable& table) {
  const CollSpec& spec = table.spec;
  std::string text = fmt::format(
      "# DLNetBench {} in the columns of the OSU micro-benchmarks\n# {}; time and size as {} means them\n",
      table.provenance.version, printable(world_text(table)), name_of(spec.definitions));
  for (const CollBlock& block : blocks_of(table))
    for (const bool in_place : {false, true}) {
      std::string rows;
      for (const CollRow* row : block.rows)
        if (row->in_place == in_place) rows += row_of(*row, spec);
      if (rows.empty()) continue;
      text += fmt::format("\n# {}\n", title_of(block.operation, spec));
      if (block.operation == CollOperation::send_recv)
        text += fmt::format("# Pattern: {}.\n", name_of(spec.pattern));
      if (block.operation != CollOperation::barrier)
        text += fmt::format("# Datatype: {}.{}\n", name_of(block.dtype), in_place ? " In place." : "");
      text += head_of(block, spec) + rows;
    }
  return text;
}

}  // namespace

extern constinit const CollFormat osu{
    .name = "osu",
    .summary = "the columns of the OSU micro-benchmarks",
    .extension = "",
    .write = write,
};

}  // namespace dlnb::coll_formats
