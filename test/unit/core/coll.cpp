// SPDX-License-Identifier: Apache-2.0
#include <dlnb/coll.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace dlnb {
namespace {

using testing::ElementsAre;
using enum CollOperation;

CollSpec sized(std::int64_t min, std::int64_t max, std::int64_t factor, std::int64_t step = 0) {
  CollSpec spec;
  spec.min_size = {min}, spec.max_size = {max}, spec.factor = factor, spec.step = {step};
  return spec;
}

TEST(CollSizes, GrowByAFactor) { EXPECT_THAT(sizes_of(sized(8, 100, 3)), ElementsAre(8, 24, 72)); }
TEST(CollSizes, IncludeTheLargest) { EXPECT_THAT(sizes_of(sized(8, 32, 2)), ElementsAre(8, 16, 32)); }
TEST(CollSizes, GrowByAStep) { EXPECT_THAT(sizes_of(sized(0, 100, 2, 40)), ElementsAre(0, 40, 80)); }
TEST(CollSizes, MayBeOne) { EXPECT_THAT(sizes_of(sized(5, 5, 2)), ElementsAre(5)); }
TEST(CollSizes, EndBeforeTheyOverflow) {
  const std::int64_t last = std::int64_t{1} << 62;

  EXPECT_THAT(sizes_of(sized(last, last, 1 << 20)), ElementsAre(last));
  EXPECT_THAT(sizes_of(sized(last - 1, last, 2, last)), ElementsAre(last - 1));
}

CollShape shape(CollOperation operation, std::int64_t size, std::int64_t ranks,
                CollDefinitions definitions = CollDefinitions::nccl_tests) {
  return shape_of(operation, DataType::bfloat16, size, ranks, definitions);
}

// 1024 bytes are 512 elements of bfloat16; a fourth of them 128.
TEST(CollShape, IsNcclTestsOwn) {
  const CollShape reduce = shape(all_reduce, 1024, 4), gather = shape(all_gather, 1024, 4),
                  scatter = shape(reduce_scatter, 1024, 4), exchange = shape(all_to_all, 1024, 4);

  EXPECT_THAT((std::array{reduce.count, reduce.sent, reduce.received, reduce.bytes}),
              ElementsAre(512, 512, 512, 1024));
  EXPECT_THAT((std::array{gather.count, gather.sent, gather.received, gather.bytes}),
              ElementsAre(128, 128, 512, 1024));
  EXPECT_THAT((std::array{scatter.count, scatter.sent, scatter.received, scatter.bytes}),
              ElementsAre(128, 512, 128, 1024));
  EXPECT_THAT((std::array{exchange.count, exchange.sent, exchange.received, exchange.bytes}),
              ElementsAre(128, 512, 512, 1024));
}

// 1024 B / 3 = 341.3 B, of which 336 are whole 16 bytes: 168 elements, 1008 bytes of all three.
TEST(CollShape, RoundsPartsDownTo16Bytes) {
  EXPECT_EQ(shape(all_gather, 1024, 3).count, 168);
  EXPECT_EQ(shape(all_gather, 1024, 3).bytes, 1008);
  EXPECT_EQ(shape(all_reduce, 1025, 3).bytes, 1024);  // whole elements
}

TEST(CollShape, RoundsSmallPartsToElements) {
  EXPECT_EQ(shape(all_to_all, 20, 4).count, 2);  // 5 bytes each: 2 elements
  EXPECT_EQ(shape(all_to_all, 6, 4).bytes, 0);
}

TEST(CollShape, OfOsuIsOneMembersPart) {
  const CollShape gather = shape(all_gather, 1024, 4, CollDefinitions::osu);

  EXPECT_EQ(gather.message, 1024);
  EXPECT_EQ(gather.bytes, 4096);
  EXPECT_EQ(shape(all_to_all, 1024, 4, CollDefinitions::osu).bytes, 4096);
  EXPECT_EQ(shape(reduce_scatter, 1024, 4, CollDefinitions::osu).bytes, 1024);
  EXPECT_EQ(shape(all_reduce, 1024, 4, CollDefinitions::osu).bytes, 1024);
}

TEST(CollShape, CountsIn64Bits) {
  const std::int64_t size = std::int64_t{1} << 40;

  EXPECT_EQ(shape(all_gather, size, 8).bytes, size);
  EXPECT_EQ(shape(all_to_all, size, 1 << 20, CollDefinitions::osu).bytes, size << 20);
}

TEST(CollShape, OfABarrierIsEmpty) { EXPECT_EQ(shape(barrier, 1024, 4).bytes, 0); }

TEST(UnevenParts, AddUpAndLeanToTheLast) {
  for (const std::int64_t ranks : {1, 2, 3, 8, 100})
    for (const double skew : {0.0, 0.3, 1.0}) {
      const auto parts = uneven_parts(1001, ranks, skew);

      EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), 1001);
      EXPECT_EQ(std::int64_t(parts.size()), ranks);
      EXPECT_GE(*std::ranges::min_element(parts), 0);
    }
  // Shares 0, 2/3, 4/3, 2 of a mean of 30.
  EXPECT_THAT(uneven_parts(120, 4, 1), ElementsAre(0, 20, 40, 60));
  EXPECT_THAT(uneven_parts(120, 4, 0), ElementsAre(30, 30, 30, 30));
}

// One second for 1 GB: the algorithm bandwidth is 1 GB/s.
TEST(CollBandwidth, IsTheDefinition) {
  const auto bus = [](CollOperation operation, std::int64_t ranks) {
    CollRow row{.operation = operation, .ranks = ranks, .shape = {.bytes = 1'000'000'000}, .time = 1};
    set_bandwidths(row);
    EXPECT_EQ(row.algorithm_bandwidth, 1e9);
    return row.bus_bandwidth / 1e9;
  };

  EXPECT_THAT((std::array{bus(all_reduce, 1), bus(all_reduce, 2), bus(all_reduce, 3), bus(all_reduce, 8)}),
              ElementsAre(0, 1, 2.0 * 2 / 3, 2.0 * 7 / 8));
  for (const CollOperation operation : {all_gather, reduce_scatter, all_to_all, all_to_all_v})
    EXPECT_THAT((std::array{bus(operation, 1), bus(operation, 2), bus(operation, 3), bus(operation, 8)}),
                ElementsAre(0, 0.5, 2.0 / 3, 7.0 / 8));
  for (const CollOperation operation : {broadcast, send_recv})
    EXPECT_THAT((std::array{bus(operation, 1), bus(operation, 2), bus(operation, 3), bus(operation, 8)}),
                ElementsAre(1, 1, 1, 1));
}

TEST(CollBandwidth, OfNoTimeIsNone) {
  CollRow row{.shape = {.bytes = 1000}};

  set_bandwidths(row);

  EXPECT_EQ(row.bus_bandwidth, 0);
}

}  // namespace
}  // namespace dlnb
