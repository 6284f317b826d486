// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "report/report.hpp"
#include "unit/report/sample_result.hpp"

namespace dlnb {
namespace {

using Row = std::vector<std::string>;

std::string csv_text(const Result& result) {
  return entry_called(formats::all(), "csv", "test").write(result);
}

// RFC 4180: fields may be quoted, quotes inside are doubled, rows end in CR LF.
std::vector<Row> read_csv(const std::string& text) {
  std::vector<Row> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '"' && text.compare(i, 2, "\"\"") == 0) {
      rows.back().back() += text[++i];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == ',') {
      rows.back().emplace_back();
    } else if (!quoted && text.compare(i, 2, "\r\n") == 0) {
      rows.emplace_back(1), ++i;
    } else {
      rows.back().back() += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

// The value in the row whose table, quantity and statistic are these.
std::string value(const std::vector<Row>& rows, const std::string& table, const std::string& quantity,
                  const std::string& statistic) {
  const auto column = [&](const std::string& name) {
    return std::size_t(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
  };
  for (const Row& row : rows)
    if (row.at(column("table")) == table && row.at(column("quantity")) == quantity &&
        row.at(column("statistic")) == statistic)
      return row.at(column("value")) + " " + row.at(column("unit"));
  return "none";
}

TEST(ResultCsv, GivesEveryRowEveryColumn) {
  const auto rows = read_csv(csv_text(sample_result()));

  // 8 metrics of 4 statistics, an operation of 10, an iteration of 6, 2 ledger rows of 2, and the header.
  EXPECT_EQ(rows.size(), 8u * 4 + 10 + 6 + 2 * 2 + 1);
  for (const Row& row : rows) EXPECT_EQ(row.size(), rows[0].size());
}

TEST(ResultCsv, HoldsOneObservationPerRow) {
  const auto rows = read_csv(csv_text(sample_result()));

  EXPECT_EQ(value(rows, "metrics", "iteration_time", "value"), "1.2 s");
  EXPECT_EQ(value(rows, "metrics", "iteration_time", "count"), "5 1");
  EXPECT_EQ(value(rows, "operations", "time", "p95"), "0.003 s");
  EXPECT_EQ(value(rows, "operations", "bus_bandwidth", "median"), "1000000 B/s");
  EXPECT_EQ(value(rows, "iterations", "transfer", "value"), "0.2 s");
  EXPECT_EQ(value(rows, "ledger", "bytes_total", "value"), "100000 B");
}

TEST(ResultCsv, QuotesWhatNeedsIt) {
  Result result = sample_result();
  result.label = "a \"plan\", of\nmine";

  const auto rows = read_csv(csv_text(result));

  EXPECT_EQ(rows.at(1).at(0), "a \"plan\", of\nmine");
  EXPECT_EQ(rows.at(1).size(), rows.at(0).size());
}

}  // namespace
}  // namespace dlnb
