// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "report/web_page.hpp"
#include "unit/report/sample_result.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json smallest_result() {
  Result result;
  result.kind = "simulate";
  return Json::parse(entry_called(formats::all(), "json", "test").write(result));
}

Json full_result() {
  return Json::parse(entry_called(formats::all(), "json", "test").write(sample_result()));
}

bool has_page() {
  try {
    web_page();
    return true;
  } catch (const Unavailable&) {
    return false;
  }
}

class HtmlReport : public testing::Test {
 protected:
  void SetUp() override {
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(testing::TempDir()) / ("html_report_" + test);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  /// "where: problem" of the refusal, with the folder of the test left out.
  std::string refusal(const fs::path& result) const {
    try {
      html_report({result});
    } catch (const UserError& error) {
      const std::string text = error.what();
      const std::string folder = folder_.string() + "/";
      return text.starts_with(folder) ? text.substr(folder.size()) : text;
    } catch (const Unavailable&) {
      return "accepted";  // there is no page to put it into
    }
    return "accepted";
  }
  std::string refusal_of_member(const std::string& name, const Json& value) const {
    Json result = full_result();
    result[Json::json_pointer(name)] = value;
    return refusal(file("a.json", result.dump()));
  }

  fs::path folder_;
};

/// What a browser hands to the page: the text between the tag and the first end of a script.
Json results_in(const std::string& page) {
  const std::size_t begin = page.find(results_tag) + results_tag.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST_F(HtmlReport, HoldsTheResultsInTheOrderGiven) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  Json first = smallest_result(), second = smallest_result();
  first["label"] = "first";
  second["label"] = "second";

  const std::string page = html_report({file("b.json", first.dump(2)), file("a.json", second.dump())});

  EXPECT_EQ(results_in(page), Json::array({first, second}));
}

TEST_F(HtmlReport, IsThePageAroundTheResults) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  const std::string_view page = web_page();

  const std::string report = html_report({file("a.json", smallest_result().dump())});

  // Only the content of the tag differs: "[]" became "[" + result + "]".
  EXPECT_EQ(report.size(), page.size() + smallest_result().dump().size());
  EXPECT_TRUE(report.ends_with(page.substr(page.find("</script>", page.find(results_tag)))));
}

TEST_F(HtmlReport, NoContentEndsTheScript) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  Json result = smallest_result();
  result["notes"] = {"</script><script>alert(1)</script>", "<!-- <script>"};

  const std::string page = html_report({file("a.json", result.dump())});

  EXPECT_EQ(results_in(page), Json::array({result}));
  EXPECT_EQ(page.find("alert(1)</script>"), page.npos);
}

TEST_F(HtmlReport, AsksNothingOfTheNetwork) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  const std::string_view page = web_page();

  EXPECT_NE(page.find("default-src 'none'"), page.npos);
  EXPECT_EQ(page.find("<script src="), page.npos);
  EXPECT_EQ(page.find("<link rel=\"stylesheet\""), page.npos);
}

TEST_F(HtmlReport, ReadsFilesWithAByteOrderMark) {
  EXPECT_EQ(refusal(file("a.json", "\xEF\xBB\xBF" + smallest_result().dump())), "accepted");
}

TEST_F(HtmlReport, RefusesWhatCannotBeRead) {
  EXPECT_EQ(refusal(folder_ / "absent.json"), "absent.json: there is no such file");
  EXPECT_EQ(refusal(file("empty.json", "\n")), "empty.json: empty");
  fs::create_directory(folder_ / "folder.json");
  EXPECT_EQ(refusal(folder_ / "folder.json"), "folder.json: not a file");
  EXPECT_THROW(html_report({}), UserError);
}

TEST_F(HtmlReport, RefusesJsonThatEndsTooEarly) {
  const std::string whole = smallest_result().dump();

  const std::string half = whole.substr(0, whole.size() / 2);

  EXPECT_EQ(refusal(file("a.json", half)),
            "a.json:1: the JSON ends too early, after " + std::to_string(half.size()) + " bytes");
}

TEST_F(HtmlReport, RefusesWhatIsNotJsonWithItsLine) {
  EXPECT_EQ(refusal(file("a.csv", "{\n\"metric\",\n")), "a.csv:2: not JSON at byte 11");
}

TEST_F(HtmlReport, RefusesJsonThatIsNoResult) {
  EXPECT_EQ(refusal(file("a.json", "[1]")), "a.json: expected an object, found a list");
  EXPECT_EQ(refusal(file("a.json", "{}")), "a.json: schema: missing: not a result of dlnetbench");
  EXPECT_EQ(refusal_of_member("/schema", "dlnetbench.result/2"),
            "a.json: schema: is \"dlnetbench.result/2\"; this version reads \"dlnetbench.result/1\"");
}

TEST_F(HtmlReport, SendsATableOfCollElsewhere) {
  try {
    html_report({file("coll.json", R"({"schema": "dlnetbench.coll/1"})")});
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(error.hint().find("CSV"), std::string::npos) << error.hint();
  }
}

TEST_F(HtmlReport, NamesTheMemberThatIsWrong) {
  EXPECT_EQ(refusal_of_member("/iterations", 5), "a.json: iterations: expected a list, found 5");
  EXPECT_EQ(refusal_of_member("/valid", "yes"),
            "a.json: valid: expected true or false, found the text 'yes'");
  EXPECT_EQ(refusal_of_member("/metrics/compute/value", nullptr),
            "a.json: metrics.compute.value: expected a number, found null");
  EXPECT_EQ(refusal_of_member("/grid/1", nullptr), "a.json: grid[1]: expected an object, found null");
  EXPECT_EQ(refusal_of_member("/timeline/ranks", "x"),
            "a.json: timeline.ranks: expected a list, found the text 'x'");
  EXPECT_EQ(refusal_of_member("/timeline/ranks/0/events/1/colour", "red"),
            "a.json: timeline.ranks[0].events[1].colour: nothing is called so here");
  EXPECT_EQ(refusal_of_member("/metrics/compute/count", 0),
            "a.json: metrics.compute.count: must be at least 1, found 0");
  Json result = smallest_result();
  result.erase("ledger");
  EXPECT_EQ(refusal(file("a.json", result.dump())), "a.json: ledger: missing");
}

// Every place in a result, given every kind of value that does not belong there.
TEST_F(HtmlReport, RefusesAWrongTypeAnywhere) {
  const Json whole = full_result(), flat = whole.flatten();
  for (auto place = flat.begin(); place != flat.end(); ++place) {
    for (Json::json_pointer at(place.key()); !at.empty(); at.pop_back()) {
      if (at.to_string().find("/options") != std::string::npos) continue;  // as written: anything
      Json result = whole;
      result[at] = nullptr;

      EXPECT_NE(refusal(file("a.json", result.dump())), "accepted") << at;
    }
  }
}

TEST_F(HtmlReport, TakesAWholeNumberForAnInteger) {
  EXPECT_EQ(refusal_of_member("/spec/ranks", 4.0), "accepted");
  EXPECT_EQ(refusal_of_member("/spec/ranks", 4.5), "a.json: spec.ranks: expected an integer, found 4.5");
}

TEST_F(HtmlReport, RefusesAMemberThatIsThereTwice) {
  const std::string text = full_result().dump();
  const auto doubled = [&](const std::string& member) {
    std::string twice = text;
    return refusal(file("a.json", twice.insert(text.find(member), member)));
  };

  EXPECT_EQ(doubled("\"global_batch\":32,"), "a.json: a member is there twice");
  EXPECT_EQ(doubled("\"high\":1.8,"), "a.json: metrics.compute: a member is there twice");
}

TEST_F(HtmlReport, SurvivesDeepNesting) {
  const std::size_t levels = 1'000'000;
  const std::string deep = std::string(levels, '[') + std::string(levels, ']');

  EXPECT_EQ(refusal(file("a.json", "{\"schema\":" + deep + "}")),
            "a.json: schema: is array; this version reads \"dlnetbench.result/1\"");
}

TEST_F(HtmlReport, RefusesMoreThanAPageHolds) {
  const fs::path large = file("large.json", "{}");
  fs::resize_file(large, (std::uintmax_t{257} << 20));  // a hole: no disk is used

  EXPECT_EQ(refusal(large),
            "large.json: 2 MiB more than fit: the results of one page may have 256 MiB together");
}

}  // namespace
}  // namespace dlnb
