// SPDX-License-Identifier: Apache-2.0
#include "executor/live/host_blocks.hpp"

#include <gmock/gmock.h>

namespace dlnb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(HostBlocks, DealRanksOutInOrder) {
  EXPECT_THAT(host_blocks(8, 4), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(host_blocks(6, 4), ElementsAre(2, 2, 1, 1));
  EXPECT_THAT(host_blocks(2, 4), ElementsAre(1, 1));  // hosts to spare
  EXPECT_THAT(host_blocks(3, 1), ElementsAre(3));
  EXPECT_THAT(host_blocks(3, 0), IsEmpty());
}

}  // namespace
}  // namespace dlnb
