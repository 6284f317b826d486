// SPDX-License-Identifier: Apache-2.0
// Tidy: one observation per row. The first columns name the run, the next what was observed, the last its
// statistic, unit and value; columns that do not apply are empty. Quoting and line ends after RFC 4180.
#include <cmath>

#include <fmt/format.h>

#include "report/report.hpp"

namespace dlnb::formats {
namespace {

constexpr std::string_view header =
    "label,kind,plan,model,device,machine,ranks,executor,valid,"
    "table,role,axis,operation,phase,dtype,group_size,count,bytes_each,iteration,quantity,statistic,unit,"
    "value\r\n";

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string number(double value) {
  DLNB_REQUIRE(std::isfinite(value), "a result holds numbers only");
  return fmt::format("{}", value);
}

// The columns between the run and the quantity, for a row of operations or ledger.
template <class Row>
std::string which(std::string_view table, const Row& row) {
  return fmt::format("{},{},{},{},{},{},{},{},{},", table, row.role, field(row.axis), name_of(row.kind),
                     name_of(row.phase), name_of(row.dtype), row.group_size, row.count, row.bytes_each);
}

std::string write(const Result& result) {
  const std::string run =
      fmt::format("{},{},{},{},{},{},{},{},{},", field(result.label), field(result.kind),
                  field(result.spec.plan.name), field(result.spec.model), field(result.machine.device),
                  field(result.machine.name), result.machine.ranks, field(result.executor), result.valid);
  std::string text(header);
  const auto add = [&](const std::string& what, std::string_view quantity, std::string_view statistic,
                       std::string_view unit, const std::string& value) {
    text += fmt::format("{}{},{},{},{},{}\r\n", run, what, field(quantity), statistic, field(unit), value);
  };

  for (const Metric& metric : result.metrics.named) {
    const std::string what = "metrics,,,,,,,,,";
    add(what, metric.name, "value", metric.unit, number(metric.value));
    add(what, metric.name, "count", "1", std::to_string(metric.count));
    add(what, metric.name, "low", metric.unit, number(metric.low));
    add(what, metric.name, "high", metric.unit, number(metric.high));
  }
  for (const OperationRow& row : result.metrics.operations) {
    const std::string what = which("operations", row);
    add(what, "time", "count", "1", std::to_string(row.time.count));
    add(what, "time", "min", "s", number(row.time.min));
    add(what, "time", "mean", "s", number(row.time.mean));
    add(what, "time", "median", "s", number(row.time.median));
    add(what, "time", "p95", "s", number(row.time.p95));
    add(what, "time", "p99", "s", number(row.time.p99));
    add(what, "time", "max", "s", number(row.time.max));
    add(what, "exposed", "mean", "s", number(row.exposed));
    add(what, "algorithm_bandwidth", "median", "B/s", number(row.algorithm_bandwidth));
    add(what, "bus_bandwidth", "median", "B/s", number(row.bus_bandwidth));
  }
  for (const IterationRow& row : result.metrics.iterations) {
    const std::string what = fmt::format("iterations,,,,,,,,,{}", row.iteration);
    add(what, "time", "value", "s", number(row.time));
    add(what, "communication_fraction", "value", "1", number(row.communication_fraction));
    add(what, "compute", "value", "s", number(double(row.slowest.compute) / 1e9));
    add(what, "transfer", "value", "s", number(double(row.slowest.transfer) / 1e9));
    add(what, "straggler_wait", "value", "s", number(double(row.slowest.straggler_wait) / 1e9));
    add(what, "pipeline_bubble", "value", "s", number(double(row.slowest.pipeline_bubble) / 1e9));
  }
  for (const LedgerRow& row : result.ledger) {
    const std::string what = which("ledger", row);
    add(what, "bytes_total", "value", "B", std::to_string(row.bytes_total));
    add(what, "padding_bytes", "value", "B", std::to_string(row.padding_bytes));
  }
  return text;
}

}  // namespace

extern constinit const Format csv{
    .name = "csv",
    .summary = "one observation per row, for spreadsheets and data frames",
    .write = write,
};

}  // namespace dlnb::formats
