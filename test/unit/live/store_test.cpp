// SPDX-License-Identifier: Apache-2.0
#include "executor/live/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "executor/live/programs.hpp"
#include "unit/scratch.hpp"

namespace dlnb {
namespace {

using namespace std::chrono_literals;

TEST(Store, AWaitingReaderGetsWhatIsSetLater) {
  const Scratch folder;
  const Store store(folder.folder());
  const std::string value("an\0address", 10);

  std::thread writer([&] {
    std::this_thread::sleep_for(20ms);
    store.set("rank-1", value);
  });
  const std::string found = store.get("rank-1", 60s);
  writer.join();

  EXPECT_EQ(found, value);
}

TEST(Store, ALaterValueReplacesTheEarlier) {
  const Scratch folder;
  const Store store(folder.folder());

  store.set("round", "1");
  store.set("round", "2");

  EXPECT_EQ(store.get("round", 0ms), "2");
}

TEST(Store, NamesTheKeyThatNobodySets) {
  const Scratch folder;
  const Store store(folder.folder());

  EXPECT_THAT([&] { store.get("rank-7", 5ms); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("nobody has set 'rank-7'")));
}

TEST(Store, RefusesKeysThatLeaveTheFolderAndFoldersThatAreNotThere) {
  const Scratch folder;
  const Store store(folder.folder());

  EXPECT_THROW(store.set("../outside", "x"), std::runtime_error);
  EXPECT_THROW(store.set(".hidden", "x"), std::runtime_error);
  EXPECT_THROW(Store(folder.folder() / "absent"), std::runtime_error);
}

TEST(Programs, AShellWordIsOneWordWhateverIsInIt) {
  EXPECT_EQ(shell_word("a b;$(c)"), "'a b;$(c)'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace dlnb
