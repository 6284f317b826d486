// SPDX-License-Identifier: Apache-2.0
#include <dlnb/document.hpp>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include <functional>

#include <dlnb/error.hpp>

#include "unit/scratch.hpp"

namespace dlnb {
namespace {

std::string problem(const std::function<void()>& read) {
  try {
    read();
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}
std::string toml_problem(std::string_view text) {
  return problem([&] { parse_toml(text, "a.toml"); });
}
std::string json_problem(std::string_view text) {
  return problem([&] { parse_json(text, "a.json"); });
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::int64_t integer(const Value& root, std::string_view path) {
  return std::get<std::int64_t>(root.find_path(path)->data());
}

TEST(Toml, KnowsTheLineOfEveryValue) {
  const Value root = parse_toml("a = 1\n\n[plan]\ndata = \"rest\"\npipeline = { stages = 8 }\n", "run.toml");

  EXPECT_EQ(root.find_path("a")->where(), "run.toml:1");
  EXPECT_EQ(root.find_path("plan.data")->where(), "run.toml:4");
  EXPECT_EQ(root.find_path("plan.pipeline.stages")->where(), "run.toml:5");
  EXPECT_EQ(integer(root, "plan.pipeline.stages"), 8);
}

TEST(Toml, KeepsTheOrderWritten) {
  const Value root = parse_toml("z = 1\na = 2\nm = { y = 1, b = 2 }\n", "run.toml");

  EXPECT_EQ(root.table()[0].first, "z");
  EXPECT_EQ(root.table()[1].first, "a");
  EXPECT_EQ(root.table()[2].second.table()[0].first, "y");
}

TEST(Toml, RefusesBadText) {
  EXPECT_TRUE(toml_problem("a = 1\nb = = 2\n").starts_with("a.toml:2: ")) << toml_problem("a = 1\nb = = 2\n");
  EXPECT_TRUE(toml_problem("a = 1\na = 2\n").starts_with("a.toml:2: ")) << toml_problem("a = 1\na = 2\n");
  EXPECT_TRUE(contains(toml_problem("a = 1\na = 2\n"), "redefine")) << toml_problem("a = 1\na = 2\n");
  EXPECT_EQ(toml_problem(std::string_view("a = 1\n\0b = 2", 12)),
            "a.toml:2: a NUL byte; this is not a text file");
  EXPECT_EQ(toml_problem("a = 1\nb = \"\xff\"\n"), "a.toml:2: not UTF-8 text");
  EXPECT_EQ(toml_problem("b = \"\xc0\xaf\"\n"), "a.toml:1: not UTF-8 text");      // overlong '/'
  EXPECT_EQ(toml_problem("b = \"\xed\xa0\x80\"\n"), "a.toml:1: not UTF-8 text");  // a surrogate
  EXPECT_EQ(toml_problem("\n\nday = 2026-01-01\n"), "a.toml:3: dates and times of day are not used here");
  EXPECT_EQ(toml_problem("name = \"µ漢𝄞\"\n"), "accepted");
}

TEST(Toml, RefusesDepthThatWouldOverflowTheStack) {
  EXPECT_NE(toml_problem("a = " + std::string(1'000'000, '[')), "accepted");
  std::string dots = "a";
  for (int i = 0; i < 1'000'000; ++i) dots += ".a";
  EXPECT_EQ(toml_problem(dots + " = 1"), "a.toml:1: a key has too many dots");
}

TEST(Json, KnowsLinesAndOrder) {
  const Value root =
      parse_json("{\n \"z\": 1,\n \"a\": [true, null,\n 2.5\n],\n \"t\": {\"x\": \"y\"}\n}", "c.json");

  EXPECT_EQ(root.table()[0].first, "z");
  EXPECT_EQ(root.find("z")->where(), "c.json:2");
  EXPECT_EQ(root.find("a")->array()[2].where(), "c.json:4");
  EXPECT_TRUE(root.find("a")->array()[1].empty());
  EXPECT_EQ(root.find_path("t.x")->where(), "c.json:6");
}

TEST(Json, RefusesBadText) {
  EXPECT_EQ(json_problem("{\"a\": 1,\n\"a\": 2}"), "a.json:2: the key 'a' is there twice");
  EXPECT_TRUE(json_problem("{\"a\": 1,\n\n oops}").starts_with("a.json:3: syntax error"))
      << json_problem("{\"a\": 1,\n\n oops}");
  EXPECT_TRUE(json_problem("").starts_with("a.json:1: syntax error")) << json_problem("");
  EXPECT_TRUE(json_problem("{} {}").starts_with("a.json:1: syntax error")) << json_problem("{} {}");
  EXPECT_TRUE(contains(json_problem("[1e999]"), "number overflow")) << json_problem("[1e999]");
  EXPECT_TRUE(contains(json_problem("[NaN]"), "syntax error")) << json_problem("[NaN]");
  EXPECT_EQ(json_problem(std::string(1'000'000, '[')), "a.json:1: nested deeper than 64 levels");
  EXPECT_EQ(json_problem(std::string_view("{\0}", 3)), "a.json:1: a NUL byte; this is not a text file");
}

TEST(Json, TakesIntegersToTheLast) {
  EXPECT_EQ(integer(parse_json("{\"a\": 9223372036854775807}", "a.json"), "a"),
            std::int64_t(0x7fffffffffffffff));
}

TEST(ReadDocument, RefusesWhatIsNotASmallFile) {
  const Scratch scratch;
  const std::filesystem::path huge = scratch.write("huge.toml", "");
  std::filesystem::resize_file(huge, 10'000'000'000);  // sparse
  const std::filesystem::path pipe = scratch.folder() / "pipe.toml";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto reading = [](const std::filesystem::path& file) {
    return problem([&] { read_document(file); });
  };

  EXPECT_EQ(reading(huge),
            huge.string() + ": has 10000000000 bytes; a configuration file has at most 67108864");
  EXPECT_EQ(reading(pipe), pipe.string() + ": is not a regular file");
  EXPECT_EQ(reading(scratch.folder()), scratch.folder().string() + ": is a folder, not a file");
  EXPECT_EQ(reading("/dev/zero"), "/dev/zero: is not a regular file");
  EXPECT_EQ(reading(scratch.folder() / "no.toml"),
            (scratch.folder() / "no.toml").string() + ": there is no such file");
  EXPECT_EQ(reading(scratch.write("a.yaml", "a: 1")),
            (scratch.folder() / "a.yaml").string() + ": is neither a .toml nor a .json file");
}

TEST(ParseValue, ReadsTypes) {
  EXPECT_EQ(std::get<std::int64_t>(parse_value("4", "--x").data()), 4);
  EXPECT_EQ(std::get<bool>(parse_value("true", "--x").data()), true);
  EXPECT_EQ(std::get<double>(parse_value("2.5", "--x").data()), 2.5);
  EXPECT_EQ(std::get<std::string>(parse_value("25 MiB", "--x").data()), "25 MiB");
  EXPECT_EQ(std::get<std::string>(parse_value("rest", "--x").data()), "rest");
  EXPECT_EQ(std::get<std::string>(parse_value("\"4\"", "--x").data()), "4");
  EXPECT_EQ(std::get<std::string>(parse_value("2026-01-01", "--x").data()), "2026-01-01");
  EXPECT_EQ(std::get<std::string>(parse_value("4 # four", "--x").data()), "4 # four");
  EXPECT_EQ(std::get<std::string>(parse_value("4\nb = 5", "--x").data()), "4\nb = 5");
  EXPECT_EQ(std::get<std::string>(parse_value("", "--x").data()), "");
}

TEST(ParseValue, NeedsNoQuotesInsideBrackets) {
  const Value table = parse_value("{stages=8, schedule=1f1b, parts=[1, two], inner={a=b}}", "--x");

  EXPECT_EQ(integer(table, "stages"), 8);
  EXPECT_EQ(std::get<std::string>(table.find("schedule")->data()), "1f1b");
  EXPECT_EQ(std::get<std::string>(table.find("parts")->array()[1].data()), "two");
  EXPECT_EQ(std::get<std::string>(table.find_path("inner.a")->data()), "b");
  EXPECT_EQ(table.find("stages")->where(), "--x");
}

TEST(ParseValue, RefusesBrokenBrackets) {
  const auto parsing = [](const std::string& text) { return problem([&] { parse_value(text, "--x"); }); };

  EXPECT_EQ(parsing("{a=1"), "--x: expected '}' at the end of '{a=1'");
  EXPECT_EQ(parsing("{a=[1}"), "--x: a bracket is not closed in 'a=[1'");
  EXPECT_EQ(parsing("{a=1,a=2}"), "--x: the key 'a' is there twice");
  EXPECT_EQ(parsing("{a}"), "--x: expected 'key = value', found 'a'");
  EXPECT_EQ(parsing("{a=}"), "--x: a value is missing between brackets");
  EXPECT_EQ(parsing("[1,,2]"), "--x: a value is missing between brackets");
  EXPECT_EQ(parsing("{a=1]}"), "--x: ']' closes nothing in 'a=1]'");
  EXPECT_EQ(parsing("\"open"), "--x: a quote is not closed in '\"open'");
  EXPECT_EQ(parsing(std::string(1000, '[') + std::string(1000, ']')), "--x: nested deeper than 64 levels");
}

TEST(Value, MergesTablesAndReplacesTheRest) {
  Value below = parse_toml("a = 1\nt = { x = 1, y = 2 }\n", "below.toml");

  below.merge(parse_toml("a = 2\nt = { y = 3 }\n", "above.toml"));

  EXPECT_EQ(integer(below, "a"), 2);
  EXPECT_EQ(integer(below, "t.x"), 1);
  EXPECT_EQ(integer(below, "t.y"), 3);
  EXPECT_EQ(below.find_path("t.x")->where(), "below.toml:2");
  EXPECT_EQ(below.find("a")->where(), "above.toml:1");
}

TEST(Value, SetsPaths) {
  Value root;

  root.set_path("plan.data.buckets", Value(std::int64_t{5}, "--set plan.data.buckets"));

  EXPECT_EQ(integer(root, "plan.data.buckets"), 5);
  EXPECT_EQ(problem([&] { root.set_path("plan.data.buckets.deep", Value(std::int64_t{1}, "--set x")); }),
            "--set x: 'deep' is the integer 5 (--set plan.data.buckets), not a table");
  for (const char* path : {"", ".", "a.", ".a", "a..b"})
    EXPECT_EQ(problem([&] { root.set_path(path, Value(std::int64_t{1}, "--set x")); }),
              "--set x: a key of a dotted path is empty")
        << path;
}

TEST(WhereOf, DoesNotRepeatTheOption) {
  EXPECT_EQ(where_of(Value({}, "run.toml:3"), "ranks"), "run.toml:3 ranks");
  EXPECT_EQ(where_of(Value({}, "--message-scale"), "message_scale"), "--message-scale");
  EXPECT_EQ(where_of(Value({}, "--set plan.data"), "plan.data"), "--set plan.data");
  EXPECT_EQ(where_of(Value({}, "--plan"), "plan.data"), "--plan plan.data");
  EXPECT_EQ(where_of(Value({}, ""), "ranks"), "ranks");
}

TEST(InQuotes, ShowsControlCharactersAndCutsLongText) {
  EXPECT_EQ(in_quotes("a\x1b[31m"), "'a\\x1b[31m'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(60, 'x') + "…'");
}

}  // namespace
}  // namespace dlnb
