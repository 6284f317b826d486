// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <dlnb/schedule.hpp>

namespace dlnb {
namespace {

using Ranks = std::vector<std::int64_t>;

// rank = (replica · 3 + stage) · 2 + t
const ProcessGrid grid({{"tensor", 2}, {"pipeline", 3}, {"data", 2}});

TEST(ProcessGrid, LaysRanksOutWithTheFirstAxisFastest) {
  EXPECT_EQ(grid.ranks(), 12);
  EXPECT_EQ(grid.coordinate(9, 0), 1);  // 9 = (1·3 + 1)·2 + 1
  EXPECT_EQ(grid.coordinate(9, 1), 1);
  EXPECT_EQ(grid.coordinate(9, 2), 1);
  EXPECT_EQ(grid.with_coordinate(9, 1, 2), 11);
}

TEST(ProcessGrid, GroupsDifferOnlyAlongTheirAxes) {
  EXPECT_EQ(grid.group(9, 0b001).ranks(), (Ranks{8, 9}));
  EXPECT_EQ(grid.group(9, 0b010).ranks(), (Ranks{7, 9, 11}));
  EXPECT_EQ(grid.group(9, 0b100).ranks(), (Ranks{3, 9}));
  EXPECT_EQ(grid.group(9, 0b101).ranks(), (Ranks{2, 3, 8, 9}));
  EXPECT_EQ(grid.group(9, 0b111).size(), 12);
}

TEST(ProcessGrid, IndexOfIsTheInverseOfRank) {
  for (AxisSet axes = 1; axes < 8; ++axes) {
    const Group group = grid.group(7, axes);
    for (std::int64_t i = 0; i < group.size(); ++i)
      EXPECT_EQ(group.index_of(group.rank(i)), i) << "axes " << axes;
  }
}

TEST(ProcessGrid, NamesGroups) {
  EXPECT_EQ(grid.text(0b100), "data");
  EXPECT_EQ(grid.text(0b101), "tensor+data");
  EXPECT_EQ(grid.text(0b111), "world");
}

TEST(ExecutionOrder, MovesAnOperationAheadBehindTheLastOfItsAxes) {
  const auto op = [](OperationKind kind, AxisSet axes, bool ahead = false) {
    Operation o;
    o.kind = kind;
    o.axes = axes;
    o.ahead = ahead;
    return o;
  };
  using enum OperationKind;
  const Program program{.operations = {op(all_gather, 1), op(wait, 1), op(compute, 0), op(all_reduce, 2),
                                       op(all_gather, 1, true), op(wait, 1)}};

  std::vector<OperationKind> kinds;
  for (const Operation& o : execution_order(program)) kinds.push_back(o.kind);

  EXPECT_EQ(kinds, (std::vector{all_gather, wait, all_gather, compute, all_reduce, wait}));
}

}  // namespace
}  // namespace dlnb
