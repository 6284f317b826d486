// SPDX-License-Identifier: Apache-2.0
#include "executor/live/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include <dlnb/error.hpp>

#include "executor/live/backend.hpp"
#include "executor/live/live.hpp"
#include "plans.hpp"

namespace dlnb {
namespace {

using namespace plans;

Trace run(const Schedule& schedule, const RunSpec& spec) {
  std::optional<Trace> trace = run_live(schedule, spec);
  DLNB_REQUIRE(trace.has_value(), "rank 0 is in this process");
  return *trace;
}

// What every record must satisfy, whatever the times were.
void expect_sound(const Trace& trace, const Schedule& schedule) {
  ASSERT_EQ(std::int64_t(trace.ranks.size()), schedule.grid.ranks());
  for (const RankTrace& rank : trace.ranks) {
    const auto operations = execution_order(schedule.program_of(rank.rank));
    ASSERT_EQ(rank.intervals.size(), operations.size() * std::size_t(trace.iterations));
    ASSERT_EQ(rank.iteration_begin.size(), std::size_t(trace.iterations));
    for (std::size_t k = 0; k < std::size_t(trace.iterations); ++k) {
      EXPECT_LE(k == 0 ? 0 : rank.iteration_end[k - 1], rank.iteration_begin[k]);
      std::int64_t now = rank.iteration_begin[k];
      for (std::size_t i = 0; i < operations.size(); ++i) {
        const Interval& interval = rank.intervals[k * operations.size() + i];
        EXPECT_GE(interval.begin, now) << "operation " << i;
        EXPECT_GE(interval.end, interval.begin) << "operation " << i;
        EXPECT_GE(interval.completed, interval.begin) << "operation " << i;
        const bool at_once = operations[i].blocking || is_wait(operations[i].kind);
        const bool may_be_late = operations[i].kind == OperationKind::compute;  // where ranks share cores
        EXPECT_TRUE(may_be_late ? interval.completed <= interval.end
                                : !at_once || interval.completed == interval.end)
            << "operation " << i;
        now = interval.end;
      }
      EXPECT_EQ(rank.iteration_end[k], now);
    }
  }
}

class EveryProgress : public testing::TestWithParam<const char*> {};

TEST_P(EveryProgress, RunsEveryCollectiveInEveryTypeAndRecordsIt) {
  const Schedule schedule = everything(4, 100);
  RunSpec spec = plans::spec(4);
  spec.progress = GetParam();

  const Trace trace = run(schedule, spec);

  EXPECT_EQ(trace.executor, "threads");
  EXPECT_EQ(trace.iterations, spec.iterations);
  EXPECT_EQ(trace.clock_bound_ns, 0);  // one host
  expect_sound(trace, schedule);
}

TEST_P(EveryProgress, RunsMessagesBetweenStages) {
  const Schedule schedule = two_stages(2, 1000);
  RunSpec spec = plans::spec(4);
  spec.progress = GetParam();

  expect_sound(run(schedule, spec), schedule);
}

INSTANTIATE_TEST_SUITE_P(Session, EveryProgress, testing::Values("auto", "poll", "thread", "none"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(Session, AMessageIsReceivedAfterItWasSentFor) {
  const Schedule schedule = two_stages(1, 1000);

  const Trace trace = run(schedule, plans::spec(2));

  // Rendezvous: a receive ends after its send has begun.
  EXPECT_GE(trace.ranks[1].intervals[0].end, trace.ranks[0].intervals[1].begin);
}

TEST(Session, RunsWithEightRanksAndEmptyMessages) {
  const Schedule schedule = everything(8, 0);

  expect_sound(run(schedule, plans::spec(8)), schedule);
}

TEST(Session, GoesOnUntilTheShortestTime) {
  RunSpec spec = plans::spec(2);
  spec.iterations = 1;
  spec.min_time = {0.02};
  const Schedule schedule =
      alike(2, {compute(1e-3), collective(OperationKind::barrier, 1, 2, DataType::float32, 0)});

  const Trace trace = run(schedule, spec);

  EXPECT_GT(trace.iterations, 1);
  EXPECT_GE(trace.ranks[0].iteration_end.back() - trace.ranks[0].iteration_begin.front(), 20'000'000);
  expect_sound(trace, schedule);
}

Trace run_with_signal(int signal, const RunSpec& spec) {
  const Schedule schedule =
      alike(2, {compute(1e-3), collective(OperationKind::barrier, 1, 2, DataType::float32, 0)});
  std::thread sender([signal] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    raise(signal);
  });
  const Trace trace = run(schedule, spec);
  sender.join();
  return trace;
}

TEST(Session, ASignalEndsItAfterTheIterationAndIsNoted) {
  RunSpec spec = plans::spec(2);
  spec.iterations = 100'000;

  const Trace trace = run_with_signal(SIGUSR1, spec);

  EXPECT_LT(trace.iterations, spec.iterations);
  ASSERT_GT(trace.iterations, 1);
  EXPECT_THAT(trace.notes, testing::Contains("ended early by SIGUSR1 after " +
                                             std::to_string(trace.iterations) + " iterations"));
}

TEST(Session, ASignalBeforeTheShortestTimeIsNotedAsWell) {
  RunSpec spec = plans::spec(2);
  spec.iterations = 1;
  spec.min_time = {1000};

  const Trace trace = run_with_signal(SIGTERM, spec);

  EXPECT_THAT(trace.notes, testing::Contains(testing::StartsWith("ended early by SIGTERM after ")));
}

TEST(Session, ARunThatEndsByItselfHasNoSuchNote) {
  const Trace trace = run(alike(2, {compute(1e-3)}), plans::spec(2));

  EXPECT_THAT(trace.notes, testing::Not(testing::Contains(testing::HasSubstr("ended early"))));
}

TEST(Session, RefusesWhatDoesNotFitIntoMemory) {
  const std::int64_t elements = std::int64_t{1} << 44;  // 64 TiB of float32

  try {
    run(alike(2, {collective(OperationKind::all_reduce, 1, 2, DataType::float32, elements)}), plans::spec(2));
    FAIL() << "was not refused";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("available"), std::string::npos) << error.what();
  }
}

TEST(Session, UnknownBackendAndProgressAreUserErrors) {
  const Schedule schedule = alike(1, {compute(0)});
  RunSpec backend = plans::spec(1, "treads"), progress = plans::spec(1);
  progress.progress = "pol";

  EXPECT_THROW(run_live(schedule, backend), UserError);
  EXPECT_THROW(run_live(schedule, progress), UserError);
}

TEST(Session, TheWatchdogNamesTheLostOperation) {
  // Rank 1 never sends. The checker refuses this; a lost rank looks the same.
  Schedule schedule = two_stages(1, 10);
  schedule.programs[1].operations = {message(OperationKind::recv, 1, 0, 10)};
  schedule.programs[0].operations = {message(OperationKind::recv, 1, 1, 10)};
  RunSpec spec = plans::spec(2);
  spec.verify = false;
  spec.watchdog = {0.2};

  try {
    run(schedule, spec);
    FAIL() << "did not hang";
  } catch (const LostRank& error) {
    EXPECT_EQ(error.exit(), Exit::lost_rank);
    EXPECT_NE(std::string(error.what()).find("recv over pipeline (operation 0"), std::string::npos)
        << error.what();
  }
}

/// Another transport, except that what it delivers is wrong in one place.
class Corrupting final : public Transport {
 public:
  Corrupting(Transport& inner, OperationKind kind) : inner_(inner), kind_(kind) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::string library() const override { return inner_.library(); }
  bool reduces_in_place() const override { return inner_.reduces_in_place(); }
  int communicator(std::span<const int> members) override { return inner_.communicator(members); }
  void reserve(int slots) override { inner_.reserve(slots); }
  void start(int slot, const Transfer& transfer) override { inner_.start(slot, transfer); }
  bool test(int slot) override { return inner_.test(slot); }
  void wait(int slot) override { inner_.wait(slot); }
  void run(const Transfer& transfer) override {
    inner_.run(transfer);
    if (transfer.kind == kind_ && transfer.elements_received == victim && rank() == 1)
      transfer.receive[17 * size_of(transfer.dtype)] ^= std::byte{1};
  }
  void abort(int code, const std::string& why) override { inner_.abort(code, why); }

  static constexpr std::int64_t victim = 96;

 private:
  Transport& inner_;
  const OperationKind kind_;
};

TEST(Session, VerificationFindsOneWrongElementOfAnyKind) {
  using enum OperationKind;
  for (const OperationKind kind : {all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, recv}) {
    const std::int64_t part =
        kind == all_gather || kind == all_to_all ? Corrupting::victim / 2 : Corrupting::victim;
    Schedule schedule = alike(2, {collective(kind, 1, 2, DataType::float32, part)});
    if (kind == recv) {
      schedule.role_axis = 0;
      schedule.programs = {{.role = 0, .operations = {message(send, 1, 1, part)}},
                           {.role = 1, .operations = {message(recv, 1, 0, part)}}};
    }
    const RunSpec spec = plans::spec(2);
    std::string found;

    try {
      entry_called(backends::all(), "threads", "test").open({.ranks = 2}, [&](Transport& transport) {
        Corrupting corrupting(transport, kind);
        run_session(schedule, spec, corrupting, monotonic_clock());
      });
    } catch (const WrongResult& error) {
      found = error.what();
    }

    EXPECT_NE(found.find("rank 1"), std::string::npos) << name_of(kind) << ": " << found;
    const char* const place = kind == recv ? "element 17 (byte 34 of 192)" : "element 17 (byte 68 of 384)";
    EXPECT_NE(found.find(place), std::string::npos) << name_of(kind) << ": " << found;
  }
}

}  // namespace
}  // namespace dlnb
