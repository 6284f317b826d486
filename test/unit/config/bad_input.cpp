// SPDX-License-Identifier: Apache-2.0
// What people get wrong, and what they are told. FILE stands for the spec file's name.
#include <gtest/gtest.h>

#include <dlnb/error.hpp>

#include "config/config.hpp"
#include "unit/scratch.hpp"

namespace dlnb {
namespace {

struct Bad {
  std::string toml;
  std::vector<Assignment> typed;
  std::string told;
  std::string hint = "";  ///< its beginning
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.told; }

class BadInput : public testing::TestWithParam<Bad> {};

TEST_P(BadInput, IsNamed) {
  const Scratch scratch;
  const auto file = scratch.write("run.toml", GetParam().toml);
  std::string told = GetParam().told;
  if (const auto at = told.find("FILE"); at != std::string::npos) told.replace(at, 4, file.string());

  try {
    read_spec({file}, make_overrides(GetParam().typed));
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_EQ(error.what(), told);
    EXPECT_TRUE(error.hint().starts_with(GetParam().hint)) << error.hint();
  }
}

Bad file(std::string toml, std::string told, std::string hint = "") {
  return {std::move(toml), {}, std::move(told), std::move(hint)};
}
Bad typed(std::string key, std::string text, std::string told, std::string hint = "") {
  std::string where = key.find('.') == std::string::npos ? flag_of(key) : "--set " + key;
  return {"", {{std::move(key), std::move(text), std::move(where)}}, std::move(told), std::move(hint)};
}

INSTANTIATE_TEST_SUITE_P(
    Files, BadInput,
    testing::Values(
        file("rank = 8\n", "FILE:1 rank: nothing is called 'rank'", "did you mean 'ranks'?"),
        file("ranks = 8\n\nbatchsize = 2\n", "FILE:3 batchsize: nothing is called 'batchsize'"),
        file("ranks = 0\n", "FILE:1 ranks: must be at least 1, found the integer 0"),
        file("ranks = -8\n", "FILE:1 ranks: must be at least 1, found the integer -8"),
        file("ranks = 1e3\n", "FILE:1 ranks: expected an integer, found the number 1000"),
        file("ranks = \"8\"\n", "FILE:1 ranks: expected an integer, found the text '8'"),
        file("ranks = [8]\n", "FILE:1 ranks: expected an integer, found a list"),
        file("ranks = 99999999999\n",
             "FILE:1 ranks: must be at most 16777216, found the integer 99999999999"),
        file("batch = 0\n", "FILE:1 batch: must be at least 1, found the integer 0"),
        file("sequence = 0\n", "FILE:1 sequence: must be at least 1, found the integer 0"),
        file("iterations = 0\n", "FILE:1 iterations: must be at least 1, found the integer 0"),
        file("iterations = 5000000000\n",
             "FILE:1 iterations: must be at most 1000000, found the integer 5000000000"),
        file("warmup = -1\n", "FILE:1 warmup: must be at least 0, found the integer -1"),
        file("message_scale = -1\n", "FILE:1 message_scale: must be at least 0, found the integer -1"),
        file("message_scale = nan\n", "FILE:1 message_scale: must be a finite number, found the number nan"),
        file("compute_scale = inf\n", "FILE:1 compute_scale: must be a finite number, found the number inf"),
        file("scale = \"1/0\"\n", "FILE:1 scale: division by zero in '1/0'"),
        file("scale = \"half\"\n",
             "FILE:1 scale: expected a number or a ratio such as '1/64', found the text 'half'"),
        file("min_time = 10\n", "FILE:1 min_time: the integer 10 has no unit", "units: s, ms"),
        file("min_time = \"10 sec\"\n", "FILE:1 min_time: unknown unit 'sec' in '10 sec'", "units: s, ms"),
        file("watchdog = 0\n", "FILE:1 watchdog: must be at least 0.001, found the integer 0"),
        file("watchdog = \"-5 s\"\n", "FILE:1 watchdog: must not be negative, found '-5 s'"),
        file("dtype = \"bf17\"\n", "FILE:1 dtype: nothing is called 'bf17'", "did you mean 'bf16'?"),
        file("verify = 1\n", "FILE:1 verify: expected true or false, found the integer 1"),
        file("model = 7\n", "FILE:1 model: expected text, found the integer 7"),
        file("model = \"\"\n", "FILE:1 model: must not be empty"),
        file("progress = \"threads\"\n", "FILE:1 progress: nothing is called 'threads'",
             "did you mean 'thread'?"),
        file("flavour = \"torch\"\n", "FILE:1 flavour: nothing is called 'torch'"),
        file("seed = -1\n", "FILE:1 seed: must be at least 0, found the integer -1"),
        file("recompute = \"full\"\n", "FILE:1 recompute: the cost model 'paper' has no recomputation"),
        file("ranks = 8\nranks = 9\n",
             "FILE:2: Error while parsing key-value pair: cannot redefine existing integer "
             "'ranks'"),
        file("plan = 5\n", "FILE:1 plan: expected a name or a table of passes, found the integer 5"),
        file("plan = \"\"\n", "FILE:1 plan: must not be empty"),
        file("\nplan = \"dp+pq\"\n", "FILE:2 plan: nothing is called 'dp+pq'", "did you mean 'dp+pp'?"),
        file("[plan]\n", "FILE:1 plan: names no pass"),
        file("[plan]\nname = 3\n", "FILE:2 plan.name: expected text, found the integer 3"),
        file("[plan]\ntensor = 0\n", "FILE:2 plan.tensor: must be at least 1, found the integer 0"),
        file("[plan]\ntensor = 2.5\n",
             "FILE:2 plan.tensor: expected a degree, 'rest' or a table of options, found the number 2.5"),
        file("[plan]\n\ndata = \"all\"\n",
             "FILE:3 plan.data: expected a degree, 'rest' or a table of options, found the text 'all'"),
        file("literal = true\nplan = \"data=rest\"\n",
             "FILE:1 literal: only the flavour 'paper' has a literal listing")));

INSTANTIATE_TEST_SUITE_P(
    CommandLine, BadInput,
    testing::Values(
        typed("ranks", "many", "--ranks: expected an integer, found the text 'many'"),
        typed("ranks", "", "--ranks: expected an integer, found the text ''"),
        typed("ranks", "-1", "--ranks: must be at least 1, found the integer -1"),
        typed("ranks", "64.5", "--ranks: expected an integer, found the number 64.5"),
        typed("message_scale", "-0.5", "--message-scale: must be at least 0, found the number -0.5"),
        typed("scale", "0/0", "--scale: division by zero in '0/0'"),
        typed("plan", "", "--plan: must not be empty"),
        typed("plan", "fsdq", "--plan: nothing is called 'fsdq'", "did you mean 'fsdp'?"),
        typed("plan", "tensor=4,", "--plan: expected 'key = value', found ''"),
        typed("plan", "tensor=4,data", "--plan: expected 'key = value', found 'data'"),
        typed("plan", "tensor=4,tensor=2", "--plan: the key 'tensor' is there twice"),
        typed("plan", "tensor=", "--plan: a value is missing between brackets"),
        typed("plan", "tensor=-4", "--plan plan.tensor: must be at least 1, found the integer -4"),
        typed("plan", "pipeline={stages=8", "--plan: a bracket is not closed in 'pipeline={stages=8'"),
        typed("plan", "name=dp", "--plan: a composition has passes only, not a name"),
        typed("plan", "no/such.toml", "--plan: there is no file 'no/such.toml'"),
        typed("foo.bar", "1", "--set foo.bar foo: nothing is called 'foo'"),
        typed("plan..data", "1", "--set plan..data: a key of a dotted path is empty"),
        typed("ranks.deep", "1", "--set ranks.deep ranks: expected an integer, found a table")));

TEST(BadFile, IsNamed) { EXPECT_THROW(read_spec({"no/such/file.toml"}, Value()), UserError); }

TEST(BadFile, IsNamedThoughOverridden) {
  const Scratch scratch;
  const auto spec = scratch.write("run.toml", "ranks = 0\n");

  EXPECT_THROW(read_spec({spec}, make_overrides({{"ranks", "8", "--ranks"}})), UserError);
}

TEST(BadPlanFile, IsNamed) {
  const Scratch scratch;
  const auto told = [&](const std::string& text) {
    const std::string plan = scratch.write("mine.toml", text).string();
    try {
      read_spec({}, make_overrides({{"plan", plan, "--plan"}}));
    } catch (const UserError& error) {
      return std::string(error.what()).substr(plan.size());
    }
    return std::string("accepted");
  };

  EXPECT_EQ(told("summary = \"x\"\n"), ":1: a plan file has a table [plan] of passes");
  EXPECT_EQ(told("[plan]\ndata = -1\n"), ":2 plan.data: must be at least 1, found the integer -1");
  EXPECT_EQ(told("flavor = \"paper\"\n[plan]\ndata = 1\n"), ":1 flavor: nothing is called 'flavor'");
  EXPECT_EQ(told("plan = 3\n"), ":1 plan: expected a table, found the integer 3");
}

}  // namespace
}  // namespace dlnb
