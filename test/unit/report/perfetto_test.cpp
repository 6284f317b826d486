// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "unit/report/sample_result.hpp"

namespace dlnb {
namespace {

TEST(Perfetto, HasASliceForEveryPieceOfTheTimeline) {
  const Result result = sample_result();
  ASSERT_FALSE(result.metrics.timeline.empty());

  const auto trace = nlohmann::json::parse(entry_called(formats::all(), "perfetto", "test").write(result));

  std::size_t slices = 0, names = 0;
  for (const auto& event : trace.at("traceEvents")) {
    names += event.at("name") == "process_name";
    if (event.at("ph") != "X") continue;
    ++slices;
    EXPECT_GE(event.at("ts").get<double>(), 0);
    EXPECT_GT(event.at("dur").get<double>(), 0);
  }
  std::size_t expected = 0;
  for (const TimelineRank& rank : result.metrics.timeline) expected += rank.events.size();
  EXPECT_EQ(slices, expected);
  EXPECT_EQ(names, result.metrics.timeline.size());
}

TEST(Perfetto, CountsMicroseconds) {
  Result result = sample_result();
  const TimelineEvent event{.begin = 1'500, .end = 4'000, .cause = "transfer"};
  result.metrics.timeline = {{.rank = 3, .role = 1, .events = {event}}};

  const auto trace = nlohmann::json::parse(entry_called(formats::all(), "perfetto", "test").write(result));
  const auto& slice = trace.at("traceEvents").back();

  EXPECT_EQ(slice.at("pid"), 3);
  EXPECT_EQ(slice.at("ts"), 1.5);
  EXPECT_EQ(slice.at("dur"), 2.5);
  EXPECT_EQ(slice.at("cat"), "transfer");
}

}  // namespace
}  // namespace dlnb
