// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "report/schema.hpp"
#include "unit/report/sample_result.hpp"

namespace dlnb {
namespace {

using Json = nlohmann::json;
using testing::IsEmpty;

std::string json_text(const Result& result) {
  return entry_called(formats::all(), "json", "test").write(result);
}
Json json_of(const Result& result) { return Json::parse(json_text(result)); }

const Json& schema() {
  static const Json schema = Json::parse(result_schema());
  return schema;
}

TEST(ResultJson, FollowsTheSchema) { EXPECT_THAT(violations(schema(), json_of(sample_result())), IsEmpty()); }

TEST(ResultJson, FollowsTheSchemaWhereThereIsNothingToSay) {
  Result result;
  result.kind = "simulate";

  EXPECT_THAT(violations(schema(), json_of(result)), IsEmpty());
}

TEST(ResultJson, SchemaRefusesWhatIsNotAResult) {
  const auto problem = [](const char* pointer, const Json& value) {
    Json result = json_of(sample_result());
    result[Json::json_pointer(pointer)] = value;
    return violations(schema(), result).size();
  };
  Json incomplete = json_of(sample_result());
  incomplete.erase("ledger");

  EXPECT_EQ(violations(schema(), incomplete), (std::vector<Violation>{{"ledger", "missing"}}));
  EXPECT_EQ(problem("/schema", "dlnetbench.result/2"), 1u);
  EXPECT_EQ(problem("/kind", "guess"), 1u);
  EXPECT_EQ(problem("/extra", 1), 1u);
  EXPECT_EQ(problem("/operations/0/time/median", nullptr), 1u);
  EXPECT_EQ(problem("/operations/0/operation", "allreduce"), 1u);
  EXPECT_EQ(problem("/metrics/throughput/count", 0), 1u);
  EXPECT_EQ(problem("/iterations/0/communication_fraction", 1.5), 1u);
  EXPECT_EQ(problem("/timeline/ranks/0/events/0/layer", 0.5), 1u);
  EXPECT_EQ(problem("/spec/plan/flavour", "own"), 1u);
}

TEST(ResultJson, KeepsTheOrderOfTheSchema) {
  const auto result = nlohmann::ordered_json::parse(json_text(sample_result()));

  std::vector<std::string> members;
  for (const auto& [name, value] : result.items()) members.push_back(name);

  EXPECT_EQ(Json(members), schema().at("required"));
}

TEST(ResultJson, IsExplainedMemberByMember) {
  std::ostringstream reference;
  reference << std::ifstream(DLNB_TEST_DATA "/../docs/reference/result.md").rdbuf();

  for (const std::string name : schema().at("required"))
    EXPECT_NE(reference.str().find("`" + name + "`"), std::string::npos) << name;
}

TEST(ResultJson, WritesTheSameBytesEveryTime) {
  EXPECT_EQ(json_text(sample_result()), json_text(sample_result()));
}

TEST(ResultJson, HoldsTimesInSeconds) {
  const Json result = json_of(sample_result());

  EXPECT_EQ(result.at("iterations").at(0).at("compute"), 0.9);
  EXPECT_EQ(result.at("timeline").at("ranks").at(0).at("events").at(1).at("end"), 2500e-9);
}

TEST(ResultJson, WritesTheShortestNumberThatReadsBack) {
  Result result = sample_result();
  result.metrics.iterations[0].time = 0.1;
  result.metrics.operations[0].exposed = 1.0 / 3;

  const std::string text = json_text(result);

  EXPECT_NE(text.find("\"time\":0.1,"), text.npos);
  EXPECT_EQ(Json::parse(text).at("operations").at(0).at("exposed").get<double>(), 1.0 / 3);
}

TEST(ResultJson, KeepsPlanOptionsAsWritten) {
  const Json passes = json_of(sample_result()).at("spec").at("plan").at("passes");

  EXPECT_EQ(passes, Json::parse(R"([
    {"pass": "pipeline", "options": {"stages": 2, "interleave": true, "shares": [0.5, 0.5]}},
    {"pass": "data", "options": "rest"}])"));
}

TEST(ResultJson, LeavesTimeAndHostOutOfSimulatedResults) {
  Result result = sample_result();
  result.provenance.time.clear();
  result.provenance.host.clear();

  const Json provenance = json_of(result).at("provenance");

  EXPECT_FALSE(provenance.contains("time"));
  EXPECT_FALSE(provenance.contains("host"));
}

TEST(ResultJson, SurvivesTextThatIsNotUtf8) {
  Result result = sample_result();
  result.provenance.environment = {{"HOME", "/caf\xE9"}};

  EXPECT_EQ(json_of(result).at("provenance").at("environment").at("HOME"), "/caf\uFFFD");
}

TEST(ResultJsonDeathTest, NeverWritesNaN) {
  Result result = sample_result();
  result.metrics.named[0].value = std::numeric_limits<double>::quiet_NaN();

  EXPECT_DEATH(json_text(result), "numbers only");
}

}  // namespace
}  // namespace dlnb
