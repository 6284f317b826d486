// SPDX-License-Identifier: Apache-2.0
#include <dlnb/error.hpp>

#include <gtest/gtest.h>

namespace dlnb {
namespace {

const std::vector<std::string> passes{"data", "expert", "fsdp", "pipeline", "tensor"};

TEST(Error, SaysWhereAndWhat) {
  const UserError error("runs/moe.toml:14 plan.pipelin", "nothing is called 'pipelin'", "the hint");

  EXPECT_STREQ(error.what(), "runs/moe.toml:14 plan.pipelin: nothing is called 'pipelin'");
  EXPECT_EQ(error.hint(), "the hint");
  EXPECT_EQ(error.exit(), Exit::user_error);
}

TEST(Error, NeedsNoPlace) { EXPECT_STREQ(UserError("", "nobody knows").what(), "nobody knows"); }

TEST(Error, ShowsControlCharactersInsteadOfObeyingThem) {
  const UserError error("a\x1b[31m\n.toml:1", "found 'é\x7f'", "no\tway");

  EXPECT_STREQ(error.what(), "a\\x1b[31m\\x0a.toml:1: found 'é\\x7f'");
  EXPECT_EQ(error.hint(), "no\\x09way");
}

TEST(Error, IsNotEndless) {
  const std::string endless(200'000, 'x');

  EXPECT_LT(std::string(UserError(endless, endless).what()).size(), 2000u);
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("aéb", 1), "a…");
  EXPECT_EQ(printable("aéb", 2), "a…");
  EXPECT_EQ(printable("aéb", 3), "aé…");
  EXPECT_EQ(printable("aéb", 4), "aéb");
}

TEST(Printable, ShowsWhatTerminalsTakeForAnEscape) {
  EXPECT_EQ(printable("\xC2\x9B"
                      "2J"),
            "\\x9b2J");
}

TEST(Error, KindsHaveTheirExitCodes) {
  EXPECT_EQ(int(UserError("", "").exit()), 2);
  EXPECT_EQ(int(Unavailable("", "").exit()), 3);
  EXPECT_EQ(int(WrongResult("", "").exit()), 4);
  EXPECT_EQ(int(LostRank("", "").exit()), 5);
}

TEST(ChooseOneOf, LeadsWithTheNearest) {
  EXPECT_EQ(choose_one_of("pipelin", passes),
            "did you mean 'pipeline'? choose one of: data, expert, fsdp, pipeline, tensor");
}

TEST(ChooseOneOf, CountsASwapAsOneEdit) {
  EXPECT_TRUE(choose_one_of("fdsp", passes).starts_with("did you mean 'fsdp'?"));
}

TEST(ChooseOneOf, DoesNotGuessWhereNothingIsNear) {
  EXPECT_EQ(choose_one_of("zebra", {"data", "fsdp"}), "choose one of: data, fsdp");
  EXPECT_EQ(choose_one_of("", {"data", "fsdp"}), "choose one of: data, fsdp");
}

TEST(ChooseOneOf, TakesLongInput) {
  const std::string long_input(1 << 20, 'x');

  EXPECT_EQ(choose_one_of(long_input, {"data"}), "choose one of: data");
}

TEST(ChooseOneOf, SaysThatThereIsNothing) {
  EXPECT_EQ(choose_one_of("x", {}), "there is nothing to choose from");
}

TEST(RequireDeathTest, AbortsWithTheClaim) {
  EXPECT_DEATH(DLNB_REQUIRE(1 + 1 == 3, "arithmetic holds"), "1 \\+ 1 == 3\n.*arithmetic holds");
}

}  // namespace
}  // namespace dlnb
