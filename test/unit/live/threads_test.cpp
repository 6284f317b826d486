// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <pthread.h>

#include <functional>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "executor/live/backend.hpp"
#include "executor/live/reduction.hpp"
#include "plans.hpp"

namespace dlnb {
namespace {

using plans::all_types;

void in_a_world(int ranks, const std::function<void(Transport&)>& body) {
  entry_called(backends::all(), "threads", "test").open({.ranks = ranks}, body);
}

/// Elements of a type that are set and read as numbers.
class Numbers {
 public:
  Numbers(DataType type, std::int64_t count) : type_(type), bytes_(std::size_t(count * size_of(type))) {}
  void set(std::int64_t i, int value) { reduction::encode(type_, float(value), at(i)); }
  int get(std::int64_t i) { return int(reduction::decode(type_, at(i))); }
  std::byte* data() { return bytes_.data(); }

 private:
  std::byte* at(std::int64_t i) { return bytes_.data() + i * size_of(type_); }
  DataType type_;
  std::vector<std::byte> bytes_;
};

void carry_out(Transport& transport, const Transfer& transfer, bool blocking) {
  if (blocking) return transport.run(transfer);
  transport.start(0, transfer);
  while (!transport.test(0)) std::this_thread::yield();
}

std::vector<int> all_ranks(const Transport& transport) {
  std::vector<int> ranks(std::size_t(transport.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

struct World {
  int size;
  DataType type;
  bool blocking;
};

class EveryWorld : public testing::TestWithParam<World> {};

constexpr std::int64_t each = 5;  // elements per member

TEST_P(EveryWorld, AllReduceAddsUp) {
  const auto [n, type, blocking] = GetParam();

  in_a_world(n, [&](Transport& transport) {
    Numbers data(type, each);
    for (int i = 0; i < each; ++i) data.set(i, i % 2 + (transport.rank() == 0));
    const int all = transport.communicator(all_ranks(transport));
    transport.reserve(1);
    carry_out(transport,
              {.kind = OperationKind::all_reduce,
               .dtype = type,
               .communicator = all,
               .send = data.data(),
               .receive = data.data(),
               .elements_sent = each,
               .elements_received = each},
              blocking);
    for (int i = 0; i < each; ++i) EXPECT_EQ(data.get(i), n * (i % 2) + 1);
  });
}

TEST_P(EveryWorld, AllGatherCollectsInRankOrder) {
  const auto [n, type, blocking] = GetParam();

  in_a_world(n, [&](Transport& transport) {
    Numbers own(type, each), all(type, each * n);
    for (int i = 0; i < each; ++i) own.set(i, transport.rank() + i);
    const int group = transport.communicator(all_ranks(transport));
    transport.reserve(1);
    carry_out(transport,
              {.kind = OperationKind::all_gather,
               .dtype = type,
               .communicator = group,
               .send = own.data(),
               .receive = all.data(),
               .elements_sent = each,
               .elements_received = each * n},
              blocking);
    for (int from = 0; from < n; ++from)
      for (int i = 0; i < each; ++i) EXPECT_EQ(all.get(from * each + i), from + i);
  });
}

TEST_P(EveryWorld, ReduceScatterGivesEveryRankItsPartOfTheSum) {
  const auto [n, type, blocking] = GetParam();

  in_a_world(n, [&](Transport& transport) {
    Numbers all(type, each * n), own(type, each);
    for (int i = 0; i < each * n; ++i) all.set(i, i % 2);
    const int group = transport.communicator(all_ranks(transport));
    transport.reserve(1);
    carry_out(transport,
              {.kind = OperationKind::reduce_scatter,
               .dtype = type,
               .communicator = group,
               .send = all.data(),
               .receive = own.data(),
               .elements_sent = each * n,
               .elements_received = each},
              blocking);
    for (int i = 0; i < each; ++i) EXPECT_EQ(own.get(i), n * ((transport.rank() * int(each) + i) % 2));
  });
}

TEST_P(EveryWorld, AllToAllExchangesParts) {
  const auto [n, type, blocking] = GetParam();

  in_a_world(n, [&](Transport& transport) {
    Numbers out(type, each * n), in(type, each * n);
    for (int to = 0; to < n; ++to)
      for (int i = 0; i < each; ++i) out.set(to * each + i, transport.rank() + to);
    const int group = transport.communicator(all_ranks(transport));
    transport.reserve(1);
    carry_out(transport,
              {.kind = OperationKind::all_to_all,
               .dtype = type,
               .communicator = group,
               .send = out.data(),
               .receive = in.data(),
               .elements_sent = each * n,
               .elements_received = each * n},
              blocking);
    for (int from = 0; from < n; ++from)
      for (int i = 0; i < each; ++i) EXPECT_EQ(in.get(from * each + i), from + transport.rank());
  });
}

TEST_P(EveryWorld, BroadcastSpreadsTheRootsData) {
  const auto [n, type, blocking] = GetParam();
  const int root = n - 1;

  in_a_world(n, [&](Transport& transport) {
    Numbers data(type, each);
    for (int i = 0; i < each; ++i) data.set(i, transport.rank() == root ? i + 1 : 0);
    const int group = transport.communicator(all_ranks(transport));
    transport.reserve(1);
    carry_out(transport,
              {.kind = OperationKind::broadcast,
               .dtype = type,
               .communicator = group,
               .peer = root,
               .receive = data.data(),
               .elements_sent = each,
               .elements_received = each},
              blocking);
    for (int i = 0; i < each; ++i) EXPECT_EQ(data.get(i), i + 1);
  });
}

class EveryWorldOfSeveral : public EveryWorld {};

TEST_P(EveryWorldOfSeveral, MessagesOfAPairArriveInTheOrderSent) {
  const auto [n, type, blocking] = GetParam();

  in_a_world(n, [&](Transport& transport) {
    const int group = transport.communicator(all_ranks(transport));
    transport.reserve(1);
    Numbers data(type, 1);
    for (int m = 0; m < 3; ++m) {  // around the ring: rank r to r + 1
      const int next = (transport.rank() + 1) % n, previous = (transport.rank() + n - 1) % n;
      Transfer send{.kind = OperationKind::send,
                    .dtype = type,
                    .communicator = group,
                    .peer = next,
                    .send = data.data(),
                    .elements_sent = 1};
      Transfer recv{.kind = OperationKind::recv,
                    .dtype = type,
                    .communicator = group,
                    .peer = previous,
                    .receive = data.data(),
                    .elements_received = 1};
      if (transport.rank() == 0) {
        data.set(0, m + 1);
        carry_out(transport, send, blocking);
        carry_out(transport, recv, blocking);
      } else {
        carry_out(transport, recv, blocking);
        carry_out(transport, send, blocking);
      }
      EXPECT_EQ(data.get(0), m + 1);
    }
  });
}

std::vector<World> worlds(std::initializer_list<int> sizes) {
  std::vector<World> all;
  for (const int size : sizes)
    for (const DataType type : all_types)
      for (const bool blocking : {true, false}) all.push_back({size, type, blocking});
  return all;
}

std::string name_of_world(const testing::TestParamInfo<World>& tested) {
  const World& world = tested.param;
  return std::to_string(world.size) + "_" + name_of(world.type) + (world.blocking ? "_blocking" : "_started");
}

INSTANTIATE_TEST_SUITE_P(Threads, EveryWorld, testing::ValuesIn(worlds({1, 2, 3, 8})), name_of_world);
INSTANTIATE_TEST_SUITE_P(Threads, EveryWorldOfSeveral, testing::ValuesIn(worlds({2, 3, 8})), name_of_world);

TEST(Threads, CommunicatorsOfPartsDoNotMix) {
  // 2 × 3 ranks: rows {0,1,2} {3,4,5}, columns {0,3} {1,4} {2,5}.
  in_a_world(6, [](Transport& transport) {
    const int row = transport.rank() / 3, column = transport.rank() % 3;
    const int along_row = transport.communicator(std::vector{3 * row, 3 * row + 1, 3 * row + 2});
    const int along_column = transport.communicator(std::vector{column, column + 3});
    transport.reserve(2);
    Numbers a(DataType::float32, 1), b(DataType::float32, 1);
    a.set(0, transport.rank()), b.set(0, transport.rank());

    transport.start(0, {.kind = OperationKind::all_reduce,
                        .communicator = along_row,
                        .send = a.data(),
                        .receive = a.data(),
                        .elements_sent = 1,
                        .elements_received = 1});
    transport.start(1, {.kind = OperationKind::all_reduce,
                        .communicator = along_column,
                        .send = b.data(),
                        .receive = b.data(),
                        .elements_sent = 1,
                        .elements_received = 1});
    transport.wait(1);
    transport.wait(0);

    EXPECT_EQ(a.get(0), 9 * row + 3);     // 3r + 3r+1 + 3r+2
    EXPECT_EQ(b.get(0), 2 * column + 3);  // c + c+3
  });
}

TEST(Threads, AFailingRankReleasesTheOthers) {
  const auto run = [] {
    in_a_world(3, [](Transport& transport) {
      const int all = transport.communicator(all_ranks(transport));
      if (transport.rank() == 1) throw std::runtime_error("rank 1 gave up");
      transport.run({.kind = OperationKind::barrier, .communicator = all});
    });
  };

  EXPECT_THROW(run(), std::runtime_error);
}

// Threads whose stacks are larger than the address space cannot be started.
TEST(Threads, WithoutThreadsItIsUnavailable) {
  pthread_attr_t before, huge;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 50), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);

  EXPECT_THROW(in_a_world(3, [](Transport&) {}), Unavailable);

  pthread_setattr_default_np(&before);
  pthread_attr_destroy(&huge);
  pthread_attr_destroy(&before);
}

// As a rank's watchdog does that cannot be started.
TEST(Threads, ARankWithoutAThreadOfItsOwnReleasesTheOthers) {
  const auto run = [] {
    in_a_world(3, [](Transport& transport) {
      const int all = transport.communicator(all_ranks(transport));
      if (transport.rank() == 1)
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      transport.run({.kind = OperationKind::barrier, .communicator = all});
    });
  };

  EXPECT_THROW(run(), Unavailable);
}

TEST(Threads, MembersThatDisagreeAreToldSo) {
  const auto run = [] {
    in_a_world(2, [](Transport& transport) {
      const int all = transport.communicator(all_ranks(transport));
      Numbers data(DataType::float32, 2);
      const std::int64_t count = transport.rank() + 1;
      transport.run({.kind = OperationKind::all_reduce,
                     .communicator = all,
                     .send = data.data(),
                     .receive = data.data(),
                     .elements_sent = count,
                     .elements_received = count});
    });
  };

  EXPECT_THROW(run(), LostRank);
}

}  // namespace
}  // namespace dlnb
