// SPDX-License-Identifier: Apache-2.0
#include "executor/live/first_rank.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <dlnb/error.hpp>

#include "unit/environment.hpp"

namespace dlnb {
namespace {

// As waitpid gives them.
constexpr int exited(int code) { return code << 8; }
constexpr int killed(int signal) { return signal; }

std::string lost(int status, const FirstRank& first, int asked) {
  try {
    verdict(status, first, asked);
  } catch (const LostRank& error) {
    return error.what();
  }
  return "nothing was lost";
}

TEST(FirstRank, ItsWordCountsMoreThanTheLaunchers) {
  EXPECT_EQ(verdict(exited(0), {.begun = true, .exit = 4}, 1), 4);
  EXPECT_EQ(verdict(exited(134), {.begun = true, .exit = 2}, 0), 2);
  EXPECT_EQ(verdict(exited(0), {.begun = true, .exit = 0}, 1), 0);
}

TEST(FirstRank, TheLauncherCountsWhereItHasNotBegunOrAnotherRankSaidWhy) {
  EXPECT_EQ(verdict(exited(3), {}, 0), 3);
  EXPECT_EQ(verdict(exited(0), {}, 0), 0);
  EXPECT_EQ(verdict(exited(5), {.begun = true}, 0), 5);
}

TEST(FirstRank, EndedWithoutAWordItIsLostWhateverTheLauncherSays) {
  const FirstRank silent{.begun = true};

  EXPECT_NE(lost(exited(137), silent, 0).find("a rank was lost: the launcher ended with 137"),
            std::string::npos);
  EXPECT_NE(lost(exited(0), silent, 0).find("a rank was lost"), std::string::npos);
  EXPECT_NE(lost(exited(4), silent, 0).find("a rank was lost"), std::string::npos);  // SIGILL is 4 as well
  EXPECT_NE(lost(killed(SIGKILL), silent, 0).find("ended by signal 9"), std::string::npos);
  EXPECT_NE(lost(exited(143), silent, 2).find("second signal"), std::string::npos);
}

TEST(FirstRank, WhoIsLostIsNamed) {
  try {
    verdict(killed(SIGKILL), {.begun = true}, 0, "rank 3 on node7");
    FAIL() << "nothing was lost";
  } catch (const LostRank& error) {
    EXPECT_NE(std::string(error.what()).find("rank 3 on node7 was ended by signal 9"), std::string::npos)
        << error.what();
  }
}

TEST(FirstRank, AnotherOneThatDiesAtTheEndIsLostToo) {
  EXPECT_NE(lost(exited(137), {.begun = true, .exit = 0}, 0).find("a rank was lost"), std::string::npos);
}

TEST(FirstRankDeathTest, LeavesItsExitCodeInTheFolder) {
  const FirstRankFolder folder;
  const auto [name, value] = folder.variable();
  const Environment environment(name, value);
  ASSERT_FALSE(folder.look().begun);

  EXPECT_EXIT((report_as_first_rank(), std::exit(4)), testing::ExitedWithCode(4), "");

  EXPECT_TRUE(folder.look().begun);
  EXPECT_EQ(folder.look().exit, 4);
}

TEST(FirstRankDeathTest, KilledItLeavesNone) {
  const FirstRankFolder folder;
  const auto [name, value] = folder.variable();
  const Environment environment(name, value);

  EXPECT_EXIT((report_as_first_rank(), raise(SIGKILL)), testing::KilledBySignal(SIGKILL), "");

  EXPECT_TRUE(folder.look().begun);
  EXPECT_FALSE(folder.look().exit);
}

TEST(FirstRank, IsToldTheSignal) {
  const FirstRankFolder folder;
  const auto [name, value] = folder.variable();
  const Environment environment(name, value);

  EXPECT_EQ(signal_told(), 0);
  folder.tell_signal(SIGINT);

  EXPECT_EQ(signal_told(), SIGINT);
}

TEST(FirstRank, TheFolderIsPrivateAndGoesAway) {
  namespace fs = std::filesystem;
  fs::path path;
  {
    const FirstRankFolder folder;
    path = folder.variable().second;
    folder.tell_signal(SIGINT);
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
  }

  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace dlnb
