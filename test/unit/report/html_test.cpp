// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "report/web_page.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json smallest_result() {
  return {{"schema", "dlnetbench.result/1"},
          {"kind", "simulate"},
          {"label", "dp · vit-h · leonardo · 8 ranks"},
          {"valid", true},
          {"executor", "sim"},
          {"spec", Json::object()},
          {"machine", Json::object()},
          {"metrics", Json::object()},
          {"operations", Json::array()},
          {"iterations", Json::array()},
          {"ledger", Json::array()},
          {"timeline", Json::object()},
          {"notes", Json::array()},
          {"provenance", Json::object()}};
}

class HtmlReport : public testing::Test {
 protected:
  void SetUp() override {
    try {
      web_page();
    } catch (const Unavailable& absent) {
      GTEST_SKIP() << absent.what();
    }
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
    }
    return "accepted";
  }
  std::string refusal_of_member(const std::string& name, const Json& value) const {
    Json result = smallest_result();
    result[name] = value;
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
  Json first = smallest_result(), second = smallest_result();
  first["label"] = "first";
  second["label"] = "second";

  const std::string page = html_report({file("b.json", first.dump(2)), file("a.json", second.dump())});

  EXPECT_EQ(results_in(page), Json::array({first, second}));
}

TEST_F(HtmlReport, IsThePageAroundTheResults) {
  const std::string_view page = web_page();

  const std::string report = html_report({file("a.json", smallest_result().dump())});

  // Only the content of the tag differs: "[]" became "[" + result + "]".
  EXPECT_EQ(report.size(), page.size() + smallest_result().dump().size());
  EXPECT_TRUE(report.ends_with(page.substr(page.find("</script>", page.find(results_tag)))));
}

TEST_F(HtmlReport, NoContentEndsTheScript) {
  Json result = smallest_result();
  result["notes"] = {"</script><script>alert(1)</script>", "<!-- <script>"};

  const std::string page = html_report({file("a.json", result.dump())});

  EXPECT_EQ(results_in(page), Json::array({result}));
  EXPECT_EQ(page.find("alert(1)</script>"), page.npos);
}

TEST_F(HtmlReport, AsksNothingOfTheNetwork) {
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
  EXPECT_EQ(refusal(file("a.json", "[1]")), "a.json: is JSON, but array and not a result");
  EXPECT_EQ(refusal(file("a.json", "{}")), "a.json schema: missing: not a result of dlnetbench");
  EXPECT_EQ(refusal_of_member("schema", "dlnetbench.result/2"),
            "a.json schema: is \"dlnetbench.result/2\"; this version reads \"dlnetbench.result/1\"");
}

TEST_F(HtmlReport, NamesTheMemberThatIsWrong) {
  EXPECT_EQ(refusal_of_member("iterations", 5), "a.json iterations: is number, not array");
  EXPECT_EQ(refusal_of_member("valid", "yes"), "a.json valid: is string, not boolean");
  Json result = smallest_result();
  result.erase("ledger");
  EXPECT_EQ(refusal(file("a.json", result.dump())), "a.json ledger: missing");
}

TEST_F(HtmlReport, RefusesMoreThanAPageHolds) {
  const fs::path large = file("large.json", "{}");
  fs::resize_file(large, (std::uintmax_t{257} << 20));  // a hole: no disk is used

  EXPECT_EQ(refusal(large), "large.json: 2 MiB more than fit: the results of one page may have 256 MiB together");
}

}  // namespace
}  // namespace dlnb
