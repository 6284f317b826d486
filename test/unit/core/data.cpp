// SPDX-License-Identifier: Apache-2.0
#include "core/data.hpp"

#include <gtest/gtest.h>

#include <dlnb/error.hpp>

#include "unit/environment.hpp"
#include "unit/scratch.hpp"

namespace dlnb {
namespace {

class Data : public testing::Test {
 protected:
  Data() {
    scratch_.write("devices/v100.toml", "");
    scratch_.write("devices/a100.toml", "");
    scratch_.write("devices/README.md", "");
  }

  std::string problem(const std::string& name) const {
    try {
      find_data("devices", name, "--device");
    } catch (const UserError& error) {
      return std::string(error.what()) + " | " + error.hint();
    }
    return "found";
  }

  Scratch scratch_;
  Environment data_{"DLNETBENCH_DATA", scratch_.folder().string()};
};

TEST_F(Data, IsWhereTheEnvironmentSays) { EXPECT_EQ(data_folder(), scratch_.folder()); }

TEST_F(Data, ListsStemsSorted) {
  EXPECT_EQ(data_names("devices"), (std::vector<std::string>{"a100", "v100"}));
  EXPECT_TRUE(data_names("nothing").empty());
}

TEST_F(Data, FindsNamesAndFiles) {
  const std::string file = scratch_.write("mine/x.toml", "").string();

  EXPECT_EQ(find_data("devices", "a100", "--device"), scratch_.folder() / "devices" / "a100.toml");
  EXPECT_EQ(find_data("devices", file, "--device"), file);
}

TEST_F(Data, SaysWhatThereIs) {
  EXPECT_EQ(problem("a10"),
            "--device: nothing is called 'a10' | did you mean 'a100'? choose one of: a100, v100");
  EXPECT_EQ(problem(""), "--device: nothing is called '' | choose one of: a100, v100");
  EXPECT_EQ(problem("no/such.toml"), "--device: there is no file 'no/such.toml' | ");
  EXPECT_EQ(problem("a100.toml"), "--device: there is no file 'a100.toml' | ");
  EXPECT_EQ(problem("README"), "--device: nothing is called 'README' | choose one of: a100, v100");
}

TEST_F(Data, RefusesAFolderThatIsNone) {
  const Environment wrong("DLNETBENCH_DATA", "/no/such/folder");

  EXPECT_THROW(data_folder(), UserError);
}

TEST(ShippedData, IsFoundFromTheBuild) {
  const Environment none("DLNETBENCH_DATA", "");

  EXPECT_EQ(data_names("plans"), (std::vector<std::string>{"dp", "dp+pp", "dp+pp+ep", "dp+pp+tp", "fsdp"}));
}

}  // namespace
}  // namespace dlnb
