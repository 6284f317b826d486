// SPDX-License-Identifier: Apache-2.0
// RFC 4180, one line a row; units as in the JSON: seconds, bytes, bytes per second.
#include <fmt/format.h>

#include "report/coll_report.hpp"

namespace dlnb::coll_formats {
namespace {

std::string write(const CollTable& table) {
  std::string text =
      "operation,ranks,groups,bytes,message_bytes,elements,dtype,in_place,iterations,time,low,high,"
      "algorithm_bandwidth,bus_bandwidth,wrong,overlap_compute,overlap_overall,overlap_share\r\n";
  for (const CollRow& row : table.rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},", name_of(row.operation), row.ranks,
                        table.spec.groups, row.shape.bytes, row.shape.message, row.shape.count,
                        name_of(row.dtype), row.in_place, row.iterations, row.time, row.low, row.high,
                        row.algorithm_bandwidth, row.bus_bandwidth);
    if (row.wrong) text += fmt::format("{}", *row.wrong);
    text += row.overlap
                ? fmt::format(",{},{},{}\r\n", row.overlap->compute, row.overlap->overall, row.overlap->share)
                : ",,,\r\n";
  }
  return text;
}

}  // namespace

extern constinit const CollFormat csv{
    .name = "csv",
    .summary = "one line a row, without series",
    .extension = ".csv",
    .write = write,
};

}  // namespace dlnb::coll_formats
