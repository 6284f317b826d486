// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "report/report.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

class WriteFile : public testing::Test {
 protected:
  WriteFile() {
    std::string pattern = (fs::temp_directory_path() / "dlnb-write-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
    folder = pattern;
  }
  ~WriteFile() override { fs::remove_all(folder); }

  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  }

  fs::path folder;
};

TEST_F(WriteFile, WritesAndLeavesNothingElse) {
  write_file(folder / "result.json", "text\n");

  EXPECT_EQ(read(folder / "result.json"), "text\n");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, ReplacesAsAWhole) {
  write_file(folder / "result.json", "first");
  std::ifstream reader(folder / "result.json");

  write_file(folder / "result.json", "second");

  std::string seen;
  reader >> seen;
  EXPECT_EQ(seen, "first") << "a reader that has the old file open keeps it";
  EXPECT_EQ(read(folder / "result.json"), "second");
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, FollowsTheUmask) {
  const mode_t before = ::umask(0027);
  write_file(folder / "result.json", "");
  ::umask(before);

  EXPECT_EQ(fs::status(folder / "result.json").permissions(), fs::perms(0640));
}

TEST_F(WriteFile, KeepsALinkAndReplacesWhatItPointsTo) {
  write_file(folder / "real.json", "first");
  fs::create_symlink("real.json", folder / "link.json");

  write_file(folder / "link.json", "second");

  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_EQ(read(folder / "real.json"), "second");
}

TEST_F(WriteFile, WritesThroughPipesAndDevices) {
  write_file("/dev/null", "text");

  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WriteFile, PassesAKilledWritersLeftovers) {
  std::ofstream(folder / (".result.json." + std::to_string(::getpid()) + ".0.part")) << "half";

  write_file(folder / "result.json", "whole");

  EXPECT_EQ(read(folder / "result.json"), "whole");
}

std::string refusal(const fs::path& file) {
  try {
    write_file(file, "text");
  } catch (const UserError& error) {
    return std::string(error.what()) + " (" + error.hint() + ")";
  }
  return "written";
}

TEST_F(WriteFile, RefusesWhatCannotBeWritten) {
  write_file(folder / "file", "");

  EXPECT_NE(refusal(folder / "missing" / "result.json").find("No such file or directory (make its folder"),
            std::string::npos);
  EXPECT_NE(refusal(folder / "file" / "result.json").find("Not a directory"), std::string::npos);
  EXPECT_NE(refusal(folder).find("is a folder"), std::string::npos);
  EXPECT_NE(refusal(folder / "").find("not the name of a file"), std::string::npos);
  EXPECT_NE(refusal("/proc/result.json").find("/proc/result.json"), std::string::npos);
  EXPECT_NE(refusal(folder / std::string(300, 'x')).find("name"), std::string::npos);
  EXPECT_EQ(files(), 1);
}

TEST_F(WriteFile, RefusesAFolderWithoutPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);

  const std::string problem = refusal(folder / "result.json");

  fs::permissions(folder, fs::perms::owner_all);
  EXPECT_NE(problem.find("Permission denied (name a file in a folder you may write to)"), std::string::npos);
}

TEST_F(WriteFile, RefusesAFullDisk) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";

  EXPECT_NE(refusal("/dev/full").find("make room"), std::string::npos);
}

}  // namespace
}  // namespace dlnb
