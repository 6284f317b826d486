// SPDX-License-Identifier: Apache-2.0
#include "executor/live/coll.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <mutex>

#include <dlnb/error.hpp>

#include "executor/live/backend.hpp"
#include "executor/live/coll_case.hpp"
#include "executor/live/live.hpp"
#include "executor/live/stop.hpp"

namespace dlnb {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using enum CollOperation;

constexpr CollOperation all_operations[] = {all_reduce,   all_gather, reduce_scatter, all_to_all,
                                            all_to_all_v, broadcast,  send_recv,      barrier};
constexpr DataType all_types[] = {DataType::float32, DataType::float16, DataType::bfloat16, DataType::float8};

CollSpec small(std::int64_t ranks) {
  CollSpec spec;
  spec.backend = "threads";
  spec.ranks = ranks;
  spec.min_size = {1};
  spec.max_size = {4096};
  spec.factor = 8;
  spec.iterations = 3;
  spec.warmup = 1;
  spec.watchdog = {30};
  return spec;
}

CollTable run(const CollSpec& spec) {
  std::optional<CollTable> table = run_coll(spec);
  DLNB_REQUIRE(table.has_value(), "rank 0 is in this process");
  return *table;
}

class EveryWorldOfColl : public testing::TestWithParam<int> {};

TEST_P(EveryWorldOfColl, VerifiesEveryOperationInEveryTypeAndForm) {
  CollSpec spec = small(GetParam());
  spec.operations.assign(std::begin(all_operations), std::end(all_operations));
  spec.dtypes.assign(std::begin(all_types), std::end(all_types));
  spec.in_place = InPlace::both;

  const CollTable table = run(spec);

  // 5 sizes in 4 types: 5 operations in both forms, all-to-all-v in one, messages where there are two; a barrier.
  EXPECT_EQ(table.rows.size(), std::size_t(5 * 4 * (5 * 2 + 1 + (GetParam() > 1)) + 1));
  for (const CollRow& row : table.rows) {
    EXPECT_EQ(row.wrong, 0) << name_of(row.operation) << " " << row.shape.bytes << ": " << table.wrong;
    EXPECT_GT(row.time, 0);
    EXPECT_LE(row.low, row.time * (1 + 1e-12));
    EXPECT_GE(row.high, row.time * (1 - 1e-12));
  }
  EXPECT_EQ(table.wrong, "");
}

INSTANTIATE_TEST_SUITE_P(Coll, EveryWorldOfColl, testing::Values(1, 2, 3, 8));

TEST(Coll, VerifiesEveryPatternOfMessages) {
  for (const MessagePattern pattern :
       {MessagePattern::ring, MessagePattern::ping_pong, MessagePattern::one_way}) {
    CollSpec spec = small(4);
    spec.operations = {send_recv};
    spec.pattern = pattern;

    const CollTable table = run(spec);

    ASSERT_EQ(table.rows.size(), 5u) << name_of(pattern);
    for (const CollRow& row : table.rows) EXPECT_EQ(row.wrong, 0) << name_of(pattern) << table.wrong;
  }
}

TEST(Coll, VerifiesMoreThanOneBlock) {
  CollSpec spec = small(2);
  spec.operations = {all_reduce, reduce_scatter, all_to_all_v};
  spec.dtypes = {DataType::float8};
  spec.min_size = spec.max_size = {3'000'001};

  for (const CollRow& row : run(spec).rows) EXPECT_EQ(row.wrong, 0) << name_of(row.operation);
}

TEST(Coll, RunsGroupsAtOnce) {
  for (const Grouping grouping : {Grouping::contiguous, Grouping::strided}) {
    CollSpec spec = small(6);
    spec.operations = {all_reduce, all_to_all};
    spec.groups = 2;
    spec.grouping = grouping;

    for (const CollRow& row : run(spec).rows) {
      EXPECT_EQ(row.ranks, 3);
      EXPECT_EQ(row.wrong, 0);
    }
  }
}

TEST(Coll, GroupsAreNeighboursOrEveryGth) {
  CollSpec spec = small(6);
  spec.groups = 2;
  CollPlace place;

  EXPECT_THAT(group_of(spec, 4, place), testing::ElementsAre(3, 4, 5));
  EXPECT_EQ(place.member, 1);
  spec.grouping = Grouping::strided;
  EXPECT_THAT(group_of(spec, 4, place), testing::ElementsAre(0, 2, 4));
  EXPECT_EQ(place.member, 2);
}

TEST(Coll, KeepsASeriesOfEveryIteration) {
  for (const CollDefinitions definitions : {CollDefinitions::nccl_tests, CollDefinitions::osu}) {
    CollSpec spec = small(2);
    spec.max_size = spec.min_size = {1024};
    spec.iterations = 2000;
    spec.series = true;
    spec.definitions = definitions;

    const CollRow row = run(spec).rows.at(0);

    ASSERT_THAT(row.series, SizeIs(2000));
    EXPECT_THAT(row.series, Each(testing::Gt(0)));
    double sum = 0;
    for (const double time : row.series) sum += time;
    EXPECT_GE(sum / 2000, row.time * 0.999);  // the slowest of each iteration
  }
}

TEST(Coll, MeasuresOverlap) {
  for (const char* progress : {"poll", "thread", "none"}) {
    CollSpec spec = small(2);
    spec.operations = {all_reduce, send_recv};
    spec.min_size = spec.max_size = {1 << 22};
    spec.overlap = true;
    spec.progress = progress;

    const CollTable table = run(spec);

    ASSERT_EQ(table.rows.size(), 2u);
    for (const CollRow& row : table.rows) {
      EXPECT_EQ(row.wrong, 0) << table.wrong;
      if (!row.overlap) continue;  // where two ranks share one core and the operation is short
      EXPECT_GE(row.overlap->overall, row.overlap->compute);
      EXPECT_GE(row.overlap->share, 0);
      EXPECT_LE(row.overlap->share, 1);
      EXPECT_EQ(row.overlap->pure, row.time);
      EXPECT_GE(row.overlap->compute, row.time * 0.5);
    }
  }
}

TEST(Coll, ShowsTheRealSizeAfterRounding) {
  CollSpec spec = small(3);
  spec.operations = {all_gather};
  spec.min_size = spec.max_size = {1000};

  const CollRow row = run(spec).rows.at(0);

  EXPECT_EQ(row.shape.bytes, 3 * 320);  // a third is 333.3 bytes, of which 320 are whole 16
  EXPECT_DOUBLE_EQ(row.algorithm_bandwidth, 960 / row.time);
  EXPECT_DOUBLE_EQ(row.bus_bandwidth, 960 / row.time * 2 / 3);
}

TEST(Coll, RefusesWhatDoesNotFitIntoMemory) {
  CollSpec spec = small(2);
  spec.max_size = {std::int64_t{1} << 42};

  try {
    run(spec);
    FAIL() << "was not refused";
  } catch (const UserError& error) {
    // 4 TiB to send and as much to receive, on two ranks.
    EXPECT_THAT(error.what(), HasSubstr("needs 17.6 TB for buffers"));
    EXPECT_THAT(error.hint(), HasSubstr("--max-size"));
  }
}

TEST(Coll, LeavesOutWhatDoesNotExist) {
  CollSpec spec = small(2);
  spec.operations = {send_recv};
  spec.in_place = InPlace::both;
  const CollTable table = run(spec);
  spec.in_place = InPlace::yes;

  EXPECT_EQ(table.rows.size(), 5u);
  EXPECT_THAT(table.notes, testing::Contains(HasSubstr("left out: threads does not do send-recv in place")));
  EXPECT_THROW(run(spec), Unavailable);
}

TEST(Coll, OneRankHasNobodyToSendTo) {
  CollSpec spec = small(1);
  spec.operations = {send_recv};

  EXPECT_THROW(run(spec), Unavailable);
}

/// Another transport, for what differs from it in one thing.
class Altered : public Transport {
 public:
  explicit Altered(Transport& inner) : inner_(inner) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::string library() const override { return inner_.library(); }
  bool reduces_in_place() const override { return inner_.reduces_in_place(); }
  bool works_in_place(OperationKind kind) const override { return inner_.works_in_place(kind); }
  bool takes_uneven_parts() const override { return true; }
  int communicator(std::span<const int> members) override { return inner_.communicator(members); }
  void reserve(int slots) override { inner_.reserve(slots); }
  void start(int slot, const Transfer& transfer) override { inner_.start(slot, transfer); }
  bool test(int slot) override { return inner_.test(slot); }
  void wait(int slot) override { inner_.wait(slot); }
  void run(const Transfer& transfer) override { inner_.run(transfer); }
  void abort(int code, const std::string& why) override { inner_.abort(code, why); }

 private:
  Transport& inner_;
};

/// What it delivers is wrong in one place.
class Corrupting final : public Altered {
 public:
  Corrupting(Transport& inner, std::int64_t after) : Altered(inner), left_(after) {}
  void start(int slot, const Transfer& transfer) override {
    started_[std::size_t(slot)] = transfer;
    Altered::start(slot, transfer);
  }
  void wait(int slot) override {
    Altered::wait(slot);
    corrupt(started_[std::size_t(slot)]);
  }
  void run(const Transfer& transfer) override {
    Altered::run(transfer);
    corrupt(transfer);
  }

 private:
  void corrupt(const Transfer& transfer) {
    if (rank() != 1 || transfer.on_host || transfer.elements_received < 20 || left_-- > 0) return;
    transfer.receive[17 * size_of(transfer.dtype)] ^= std::byte{1};
  }

  std::int64_t left_;
  Transfer started_[2];
};

CollTable run_corrupted(const CollSpec& spec, std::int64_t after) {
  std::optional<CollTable> table;
  std::mutex mutex;
  usable_backend("threads").open({.ranks = spec.ranks}, [&](Transport& transport) {
    Corrupting corrupting(transport, after);
    auto own = run_coll_session(spec, corrupting, monotonic_clock());
    const std::lock_guard lock(mutex);
    if (own) table = std::move(own);
  });
  DLNB_REQUIRE(table.has_value(), "rank 0 is in this process");
  return *table;
}

TEST(Coll, FindsOneWrongElementOfAnyOperation) {
  for (const CollOperation operation : all_operations)
    for (const bool in_place : {false, true})
      for (const DataType dtype : all_types) {
        if (operation == barrier || (in_place && (operation == send_recv || operation == all_to_all_v)))
          continue;
        CollSpec spec = small(2);
        spec.operations = {operation};
        spec.dtypes = {dtype};
        spec.in_place = in_place ? InPlace::yes : InPlace::no;
        spec.min_size = spec.max_size = {256};

        const CollTable table = run_corrupted(spec, 0);

        ASSERT_EQ(table.rows.size(), 1u);
        EXPECT_EQ(table.rows[0].wrong, 2) << name_of(operation);  // one before and one after timing
        EXPECT_THAT(table.wrong, HasSubstr("rank 1, " + std::string(name_of(operation)) +
                                           " of 256 bytes of " + name_of(dtype)));
        EXPECT_THAT(table.wrong, HasSubstr("before timing: element 17 (byte " +
                                           std::to_string(17 * size_of(dtype)) + " of "));
      }
}

// One operation before, one of warm-up and three timed ones are right; what comes after is not.
TEST(Coll, FindsWhatOnlyGoesWrongLater) {
  CollSpec spec = small(2);
  spec.min_size = spec.max_size = {256};

  const CollTable table = run_corrupted(spec, 5);

  EXPECT_EQ(table.rows.at(0).wrong, 1);
  EXPECT_THAT(table.wrong, HasSubstr("after timing"));
}

TEST(Coll, WithoutVerificationNothingIsSaidOfIt) {
  CollSpec spec = small(2);
  spec.verify = false;

  EXPECT_FALSE(run_corrupted(spec, 0).rows.at(0).wrong.has_value());
}

/// One rank never comes.
class Absent final : public Altered {
 public:
  using Altered::Altered;
  void run(const Transfer& transfer) override {
    Transfer other = transfer;
    // A message that nobody sends instead.
    if (rank() == 1 && transfer.kind == OperationKind::all_reduce)
      other = {.kind = OperationKind::recv, .dtype = transfer.dtype, .communicator = transfer.communicator};
    Altered::run(other);
  }
};

TEST(Coll, TheWatchdogNamesTheLostOperation) {
  CollSpec spec = small(2);
  spec.watchdog = {0.2};
  std::string said;

  try {
    usable_backend("threads").open({.ranks = 2}, [&](Transport& transport) {
      Absent absent(transport);
      run_coll_session(spec, absent, monotonic_clock());
    });
  } catch (const LostRank& error) {
    said = error.what();
  }

  EXPECT_THAT(said, HasSubstr("all-reduce of 0 bytes of float32 (operation 0) of ranks 0, 1"));
}

/// An all-reduce takes 5 ms, and rank 0 gets a signal in one of them.
class Signalled final : public Altered {
 public:
  Signalled(Transport& inner, int operation) : Altered(inner), signal_at_(operation) {}
  int after_the_signal() const { return count_ - signal_at_; }
  void start(int slot, const Transfer& transfer) override {
    hold_up(transfer);
    Altered::start(slot, transfer);
  }
  void run(const Transfer& transfer) override {
    hold_up(transfer);
    Altered::run(transfer);
  }

 private:
  void hold_up(const Transfer& transfer) {
    if (transfer.kind != OperationKind::all_reduce) return;
    if (++count_ == signal_at_ && rank() == 0) std::raise(SIGUSR1);
    monotonic_clock().sleep(5'000'000);
  }

  const int signal_at_;
  int count_ = 0;
};

struct SignalledCase {
  const char* name;
  bool overlap;
  int warmup, operation;  ///< of all all-reduces; the verification is the first
};

class ASignalEndsALongRow : public testing::TestWithParam<SignalledCase> {};

TEST_P(ASignalEndsALongRow, AndKeepsThoseBeforeIt) {
  CollSpec spec = small(2);
  spec.operations = {barrier, all_reduce};
  spec.min_size = spec.max_size = {256};
  spec.iterations = 300;
  spec.warmup = GetParam().warmup;
  spec.overlap = GetParam().overlap;
  const StopSignals signals;
  std::optional<CollTable> table;
  int after = 0;
  usable_backend("threads").open({.ranks = 2}, [&](Transport& transport) {
    Signalled signalled(transport, GetParam().operation);
    auto own = run_coll_session(spec, signalled, monotonic_clock());
    if (signalled.rank() == 0) table = std::move(own), after = signalled.after_the_signal();
  });

  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 1u);
  EXPECT_EQ(table->rows[0].operation, barrier);
  EXPECT_EQ(table->stopped_by, "SIGUSR1");
  // The ranks ask each other every half second, and one takes 5 ms at least; 200 and more were to follow.
  EXPECT_GE(after, 0);
  EXPECT_LE(after, 100);
}

INSTANTIATE_TEST_SUITE_P(Coll, ASignalEndsALongRow,
                         testing::Values(SignalledCase{"WarmUp", false, 300, 10},
                                         SignalledCase{"Measure", false, 5, 20},
                                         SignalledCase{"Overlap", true, 5, 1 + 5 + 300 + 10}),
                         [](const auto& tried) { return tried.param.name; });

}  // namespace
}  // namespace dlnb
