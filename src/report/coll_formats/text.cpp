// SPDX-License-Identifier: Apache-2.0
// The table for a terminal.
#include <algorithm>

#include <fmt/format.h>

#include "report/coll_report.hpp"
#include "report/wrapped.hpp"

namespace dlnb::coll_formats {
namespace {

// "1.5 us" has as many characters as columns; the unit's µ never occurs.
std::string rate(double bytes_per_second) {
  return bytes_per_second == 0 ? "-" : to_text(Bytes{std::int64_t(bytes_per_second)}) + "/s";
}

std::vector<std::string> heads(const CollSpec& spec) {
  std::vector<std::string> heads{"operation", "bytes", "type",  "in place", "time",
                                 "low",       "high",  "algbw", "busbw",    "wrong"};
  if (spec.overlap) heads.insert(heads.end(), {"overall", "compute", "overlap"});
  return heads;
}

std::vector<std::string> cells(const CollRow& row, const CollSpec& spec) {
  std::vector<std::string> cells{name_of(row.operation),
                                 fmt::format("{}", row.shape.bytes),
                                 row.operation == CollOperation::barrier ? "-" : name_of(row.dtype),
                                 row.in_place ? "yes" : "no",
                                 to_text(Seconds{row.time}),
                                 to_text(Seconds{row.low}),
                                 to_text(Seconds{row.high}),
                                 rate(row.algorithm_bandwidth),
                                 rate(row.bus_bandwidth),
                                 row.wrong ? fmt::format("{}", *row.wrong) : "-"};
  if (spec.overlap && row.overlap)
    cells.insert(cells.end(), {to_text(Seconds{row.overlap->overall}), to_text(Seconds{row.overlap->compute}),
                               fmt::format("{:.1f} %", row.overlap->share * 100)});
  else if (spec.overlap) cells.insert(cells.end(), {"-", "-", "-"});
  return cells;
}

std::string write(const CollTable& table) {
  std::vector<std::vector<std::string>> lines{heads(table.spec)};
  for (const CollRow& row : table.rows) lines.push_back(cells(row, table.spec));
  std::vector<std::size_t> widths(lines[0].size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());

  std::string text = fmt::format(
      "{}; {} iterations after {}; time as {} {} it\n", world_text(table), table.spec.iterations,
      table.spec.warmup, table.spec.definitions == CollDefinitions::osu ? "the OSU benchmarks" : "nccl-tests",
      table.spec.definitions == CollDefinitions::osu ? "define" : "defines");
  if (!table.wrong.empty()) text += "WRONG DATA: " + printable(table.wrong) + "\n";
  text += "\n";
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool is_word = i == 0 || i == 2;
      row +=
          is_word ? fmt::format("{:<{}}  ", line[i], widths[i]) : fmt::format("{:>{}}  ", line[i], widths[i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  if (!table.notes.empty()) text += "\nnotes\n";
  for (const std::string& note : table.notes) text += wrapped("  - ", printable(note), 4);
  return text;
}

}  // namespace

extern constinit const CollFormat text{
    .name = "text",
    .summary = "a table for a terminal",
    .extension = ".txt",
    .write = write,
};

}  // namespace dlnb::coll_formats
