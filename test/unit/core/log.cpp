// SPDX-License-Identifier: Apache-2.0
#include "core/log.hpp"

#include <gtest/gtest.h>

namespace dlnb {
namespace {

// What is said on stderr at one level; stdout stays empty.
std::string said_at(log::Level level) {
  log::set_level(level);
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  log::trace("operation {}");
  log::debug("rank");
  log::info("run");
  log::warn("careful");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  const std::string said = testing::internal::GetCapturedStderr();
  log::set_level(log::Level::info);
  return said;
}

TEST(Log, LevelsAreByVolume) {
  log::set_colour(false);

  EXPECT_EQ(said_at(log::Level::quiet), "warning: careful\n");
  EXPECT_EQ(said_at(log::Level::info), "info: run\nwarning: careful\n");
  EXPECT_EQ(said_at(log::Level::debug), "debug: rank\ninfo: run\nwarning: careful\n");
  EXPECT_EQ(said_at(log::Level::trace), "trace: operation {}\ndebug: rank\ninfo: run\nwarning: careful\n");
}

}  // namespace
}  // namespace dlnb
