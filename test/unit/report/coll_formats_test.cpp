// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "report/coll_report.hpp"
#include "report/schema.hpp"

namespace dlnb {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// 1 MiB in 100 us: 10.48576 GB/s; 3 ranks: bus factor 4/3.
CollRow row(CollOperation operation, bool in_place, std::int64_t bytes = 1 << 20) {
  CollRow row{.operation = operation,
              .ranks = 3,
              .dtype = DataType::bfloat16,
              .in_place = in_place,
              .shape = shape_of(operation, DataType::bfloat16, bytes, 3, CollDefinitions::nccl_tests),
              .iterations = 20,
              .time = 100e-6,
              .low = 90e-6,
              .high = 120.13e-6,
              .wrong = 0};
  set_bandwidths(row);
  return row;
}

CollTable sample() {
  CollTable table;
  table.spec.operations = {CollOperation::all_reduce, CollOperation::broadcast};
  table.spec.dtypes = {DataType::bfloat16};
  table.spec.in_place = InPlace::both;
  table.spec.ranks = 3;
  table.executor = "mpi";
  table.library = "Open MPI 4.1.4";
  table.rows = {row(CollOperation::all_reduce, false), row(CollOperation::all_reduce, true),
                row(CollOperation::all_reduce, false, 2 << 20), row(CollOperation::all_reduce, true, 2 << 20),
                row(CollOperation::broadcast, false)};
  table.notes = {"a note"};
  table.provenance = {.version = "0.1.0", .time = "2026-01-01T00:00:00Z", .host = "node1"};
  return table;
}

std::string written(const CollTable& table, std::string_view format) {
  return entry_called(coll_formats::all(), format, "test").write(table);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// As `grep -v '^#' | awk` does.
std::vector<std::vector<std::string>> columns_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string& line : lines_of(text))
    if (!line.empty() && line[0] != '#') rows.push_back(words_of(line));
  return rows;
}

const Json& schema() {
  static const Json schema = Json::parse(coll_schema());
  return schema;
}

TEST(CollJson, FollowsTheSchema) {
  CollTable table = sample();
  table.rows[0].overlap = CollOverlap{100e-6, 100e-6, 150e-6, 0.5};
  table.rows[1].series = {1e-6, 2e-6};
  table.rows[2].wrong.reset();

  EXPECT_THAT(violations(schema(), Json::parse(written(table, "json"))), IsEmpty());
}

TEST(CollJson, FollowsTheSchemaWhereThereIsNothingToSay) {
  CollTable table;
  table.spec.ranks = 1;

  EXPECT_THAT(violations(schema(), Json::parse(written(table, "json"))), IsEmpty());
}

TEST(CollJson, SchemaRefusesWhatIsNoTable) {
  const auto problems = [](const char* pointer, const Json& value) {
    Json table = Json::parse(written(sample(), "json"));
    table[Json::json_pointer(pointer)] = value;
    return violations(schema(), table).size();
  };

  EXPECT_EQ(problems("/schema", "dlnetbench.coll/2"), 1u);
  EXPECT_EQ(problems("/rows/0/operation", "allreduce"), 1u);
  EXPECT_EQ(problems("/rows/0/time", -1), 1u);
  EXPECT_EQ(problems("/rows/0/extra", 1), 1u);
}

TEST(CollJson, IsExplainedMemberByMember) {
  std::ostringstream reference;
  reference << std::ifstream(DLNB_TEST_DATA "/../docs/reference/coll.md").rdbuf();

  for (const auto& [name, member] : schema().at("properties").items())
    EXPECT_THAT(reference.str(), HasSubstr("`" + name + "`"));
  for (const auto& [name, member] : schema().at("/properties/rows/items/properties"_json_pointer).items())
    EXPECT_THAT(reference.str(), HasSubstr("`" + name + "`"));
}

TEST(CollJson, SaysWhatTheColumnsMean) {
  const Json table = Json::parse(written(sample(), "json"));

  for (const char* column : {"bytes", "time", "low", "high", "algorithm_bandwidth", "bus_bandwidth", "wrong"})
    EXPECT_TRUE(table.at("definitions").contains(column)) << column;
}

TEST(CollJson, OfWrongDataIsNotValid) {
  CollTable table = sample();
  table.rows[0].wrong = 3;
  table.wrong = "rank 1, all-reduce …";

  EXPECT_EQ(Json::parse(written(table, "json")).at("valid"), false);
  EXPECT_THAT(written(table, "text"), HasSubstr("WRONG DATA: rank 1"));
  EXPECT_THAT(written(table, "nccl-tests"), HasSubstr("# Out of bounds values : 3 FAILED"));
  EXPECT_THAT(written(table, "osu"), HasSubstr("Fail"));
}

TEST(CollCsv, HasAsManyFieldsInEveryLine) {
  const auto lines = lines_of(written(sample(), "csv"));

  ASSERT_EQ(lines.size(), 6u);
  for (const std::string& line : lines)
    EXPECT_EQ(std::ranges::count(line, ','), std::ranges::count(lines[0], ','));
  EXPECT_THAT(lines[1], HasSubstr("all-reduce,3,1,1048576,1048576,524288,bfloat16,false,20,0.0001,"));
}

TEST(CollNcclTests, HasThirteenColumnsByPosition) {
  const auto rows = columns_of(written(sample(), "nccl-tests"));

  ASSERT_EQ(rows.size(), 3u);
  EXPECT_THAT(rows[0], ElementsAre("1048576", "524288", "bfloat16", "sum", "-1", "100.00", "10.49", "13.98",
                                   "0", "100.00", "10.49", "13.98", "0"));
  EXPECT_THAT(rows[2], ElementsAre("1048576", "524288", "bfloat16", "none", "0", "100.00", "10.49", "10.49",
                                   "0", "N/A", "N/A", "N/A", "N/A"));
}

// As the columns of nccl-tests end: scripts also cut by character.
TEST(CollNcclTests, AlignsWithItsHead) {
  const auto lines = lines_of(written(sample(), "nccl-tests"));
  const auto head =
      std::ranges::find_if(lines, [](const auto& line) { return line.starts_with("#       size"); });
  ASSERT_NE(head, lines.end());
  const std::string& row = *(head + 2);

  for (const auto& [word, value] : {std::pair{"size", "1048576"},
                                    {"count", "524288"},
                                    {"type", "bfloat16"},
                                    {"redop", "sum"},
                                    {"root", "-1"},
                                    {"time", "100.00"},
                                    {"algbw", "10.49"}})
    EXPECT_EQ(head->find(word) + std::string(word).size(), row.find(value) + std::string(value).size())
        << word;
}

TEST(CollNcclTests, ParsesAsPeopleParseIt) {
  const std::string text = written(sample(), "nccl-tests");
  std::smatch match;

  // ReFrame tests of several centres.
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(# Out of bounds values\s*:\s*0\s+OK)")));
  ASSERT_TRUE(std::regex_search(text, match, std::regex(R"(# Avg bus bandwidth\s*:\s*(\S+))")));
  // 1 MiB and 2 MiB in 100 us, each twice.
  EXPECT_NEAR(std::stod(match[1]), (10.48576 + 20.97152) / 2 * 4 / 3, 1e-3);
  ASSERT_TRUE(std::regex_search(
      text, match, std::regex(R"(\s+1048576\s+524288\s+bfloat16\s+sum\s+-1\s+(\S+)\s+(\S+)\s+(\S+)\s+\S+)")));
  EXPECT_EQ(match[3], "13.98");
  // grep "Avg bus bandwidth" | awk '{print $NF}', and by position.
  for (const std::string& line : lines_of(text))
    if (line.find("Avg bus bandwidth") != std::string::npos) {
      ASSERT_EQ(words_of(line).size(), 6u);
      EXPECT_GT(std::stod(words_of(line).back()), 0);
    }
  // The head names the columns of rows, once its mark is taken away.
  const auto lines = lines_of(text);
  const auto head =
      std::ranges::find_if(lines, [](const auto& line) { return line.find(" size ") != line.npos; });
  ASSERT_NE(head, lines.end());
  EXPECT_EQ(words_of(head->substr(1)).size(), 13u);
}

TEST(CollNcclTests, KeepsItsWidthsForLargeAndSmall) {
  CollTable table = sample();
  table.rows = {row(CollOperation::all_reduce, false)};
  const auto time_written = [&](double seconds) {
    table.rows[0].time = seconds;
    return columns_of(written(table, "nccl-tests"))[0][5];
  };

  EXPECT_EQ(time_written(1.234e-6), "1.23");
  EXPECT_EQ(time_written(1234.56e-6), "1234.56");
  EXPECT_EQ(time_written(12345.67e-6), "12345.7");
  EXPECT_EQ(time_written(123456.7e-6), "123457");
  EXPECT_EQ(time_written(1234567e-6), "1234567");
  EXPECT_EQ(time_written(123456789e-6), "1.2e+08");
}

TEST(CollOsu, HasItsWidths) {
  const auto lines = lines_of(written(sample(), "osu"));

  EXPECT_THAT(lines, testing::Contains("# OSU MPI Allreduce Latency Test v7.5"));
  EXPECT_THAT(lines,
              testing::Contains("# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
                                "        Validation"));
  EXPECT_THAT(lines,
              testing::Contains("1048576               100.00             90.00            120.13          20"
                                "              Pass"));
}

TEST(CollOsu, ParsesAsPeopleParseIt) {
  const std::string text = written(sample(), "osu");

  // ReFrame's hpctestlib looks for the size at the start of a line, and for "Pass".
  const std::regex latency(R"((?:^|\n)1048576\s+(\S+))"), pass(R"((?:^|\n)1048576.*Pass)");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(text, match, latency));
  EXPECT_EQ(match[1], "100.00");
  EXPECT_TRUE(std::regex_search(text, pass));
  EXPECT_TRUE(std::regex_search(text, std::regex(R"(# OSU MPI (\S+) Latency Test)")));
}

TEST(CollOsu, HasTheColumnsOfOverlap) {
  CollTable table = sample();
  table.spec.overlap = true;
  table.rows = {row(CollOperation::all_reduce, false)};
  table.rows[0].overlap = CollOverlap{100e-6, 101e-6, 151e-6, 0.5};

  const auto lines = lines_of(written(table, "osu"));

  EXPECT_THAT(lines, testing::Contains("# OSU MPI Non-blocking Allreduce Latency Test v7.5"));
  EXPECT_THAT(lines,
              testing::Contains(testing::StartsWith(
                  "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)")));
  EXPECT_THAT(columns_of(written(table, "osu"))[0],
              ElementsAre("1048576", "151.00", "101.00", "100.00", "50.00", "Pass"));
}

TEST(CollOsu, PrintsOsusOwnSize) {
  CollTable table = sample();
  table.rows = {row(CollOperation::all_gather, false, 3 << 20)};

  EXPECT_EQ(columns_of(written(table, "osu"))[0][0], std::to_string(1 << 20));
}

TEST(CollText, FitsATerminal) {
  CollTable table = sample();
  std::string note = "a word";
  for (int i = 0; i < 50; ++i) note += " and another one";
  table.notes = {note};

  for (const std::string& line : lines_of(written(table, "text"))) EXPECT_LE(line.size(), 120u) << line;
}

}  // namespace
}  // namespace dlnb
