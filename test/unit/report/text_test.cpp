// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "report/report.hpp"
#include "unit/report/sample_result.hpp"

namespace dlnb {
namespace {

std::string text_of(const Result& result) {
  return entry_called(formats::all(), "text", "test").write(result);
}

std::string line_with(const std::string& text, const std::string& part) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find(part) != line.npos) return line;
  return "no line with " + part;
}

std::ptrdiff_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::ptrdiff_t longest = 0;
  for (std::string line; std::getline(lines, line);)
    longest = std::max(longest, std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
  return longest;
}

TEST(ResultText, ShowsMetricsWithUnits) {
  const std::string text = text_of(sample_result());

  EXPECT_EQ(text.find("dp+pp · vit-h · this host · 4 ranks\n"), 0u);
  EXPECT_NE(line_with(text, "  iteration ").find("1.2 s"), std::string::npos);
  EXPECT_NE(line_with(text, "  communication ").find("25.0 %"), std::string::npos);
  EXPECT_NE(line_with(text, "  throughput ").find("26.7 samples/s"), std::string::npos);
  EXPECT_NE(text.find("Open MPI 4.1.4"), std::string::npos);
}

TEST(ResultText, DrawsPartsToScale) {
  const std::string text = text_of(sample_result());

  // 0.9, 0.2, 0.05 and 0.05 of 1.2 s on 40 columns.
  EXPECT_EQ(std::ranges::count(line_with(text, "  compute "), '#'), 30);
  EXPECT_EQ(std::ranges::count(line_with(text, "  transfer "), '#'), 7);
  EXPECT_EQ(std::ranges::count(line_with(text, "  pipeline bubble "), '#'), 2);
  EXPECT_NE(line_with(text, "  compute ").find("75.0 %"), std::string::npos);
}

TEST(ResultText, SaysThatAResultIsInvalidOrScaled) {
  Result result = sample_result();
  result.valid = false;
  result.spec.message_scale = 0.5;

  const std::string text = text_of(result);

  EXPECT_NE(line_with(text, "INVALID").find("notes"), std::string::npos);
  EXPECT_NE(line_with(text, "SCALED").find("message bytes × 0.5"), std::string::npos);
  EXPECT_EQ(text_of(sample_result()).find("INVALID"), std::string::npos);
  EXPECT_EQ(text_of(sample_result()).find("SCALED"), std::string::npos);
}

TEST(ResultText, FitsATerminal) {
  Result result = sample_result();
  result.notes.assign(3,
                      std::string("many words of no importance ") + std::string("and more of them ") +
                          std::string("until the line is longer than any terminal that people use today."));
  OperationRow& row = result.metrics.operations[0];
  row.role = 15, row.axis = "expert+data", row.kind = OperationKind::reduce_scatter,
  row.phase = Phase::synchronise;
  row.bytes_each = 1'110'000'000, row.group_size = 16384, row.count = 1280, row.time.median = 0.00123;
  row.exposed = 0.00123, row.bus_bandwidth = 1.23e11;

  EXPECT_LE(longest_line(text_of(result)), 96);
}

TEST(ResultText, EndsNoLineInABlank) {
  Result result = sample_result();
  result.metrics.named[2].low = result.metrics.named[2].high = result.metrics.named[2].value;
  result.metrics.named[3].value = 0;

  EXPECT_EQ(text_of(result).find(" \n"), std::string::npos);
}

TEST(ResultText, ShowsTheMostExposedOperationsAndCountsTheRest) {
  Result result = sample_result();
  result.metrics.operations.resize(13, result.metrics.operations[0]);
  result.metrics.operations[12].axis = "tensor";
  result.metrics.operations[12].exposed = 9;

  const std::string text = text_of(result);

  EXPECT_LT(text.find("tensor"), text.find("all-reduce"));
  EXPECT_NE(text.find("and 3 more"), std::string::npos);
  EXPECT_NE(text.find("median from the rank's own arrival"), std::string::npos);
}

TEST(ResultText, IsWrittenForAResultWithoutMetrics) {
  Result result;
  result.kind = "simulate";
  result.executor = "sim";

  EXPECT_NE(text_of(result).find("simulated by sim"), std::string::npos);
}

}  // namespace
}  // namespace dlnb
