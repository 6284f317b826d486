// SPDX-License-Identifier: Apache-2.0
#include "executor/live/recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "executor/live/process.hpp"
#include "executor/live/salvage.hpp"
#include "unit/live/plans.hpp"
#include "unit/scratch.hpp"

namespace dlnb {
namespace {

constexpr std::size_t plenty = 1 << 20;

/// Iteration k lasts from 100 k to 100 k + 10 and has two operations.
void keep(Recorder& recorder, std::int64_t k) {
  const Interval intervals[] = {{100 * k, 100 * k + 4, 100 * k + 4},
                                {100 * k + 4, 100 * k + 10, 100 * k + 10}};
  recorder.keep(100 * k, 100 * k + 10, 6, intervals);
}

TEST(Recorder, WhatItHasKeptOutlivesAKilledProcess) {
  const Scratch folder;
  const pid_t child = fork();
  if (child == 0) {
    Recorder recorder(folder.folder(), 7, 3, "a library", 2, 10, plenty);
    recorder.enter(Stage::measuring);
    for (int k = 0; k < 3; ++k) keep(recorder, k);
    recorder.begin_iteration(3);
    recorder.head().place.enter(1, 42);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);

  const auto record = read_record(folder.folder(), 3, 7);

  ASSERT_TRUE(record.has_value());
  const RecorderHead& head = record->head();
  EXPECT_EQ(head.process, child);
  EXPECT_EQ(life_of(child, head.process_start), Life::ended);
  EXPECT_STREQ(head.library.data(), "a library");
  EXPECT_EQ(head.iteration, 3);
  EXPECT_EQ(head.place.at, 1);
  EXPECT_EQ(head.place.since, 42);
  EXPECT_EQ(record->last(), 3);
  const RankTrace trace = record->iterations(record->first(), record->last());
  EXPECT_EQ(trace.rank, 3);
  EXPECT_THAT(trace.iteration_begin, testing::ElementsAre(0, 100, 200));
  EXPECT_THAT(trace.iteration_end, testing::ElementsAre(10, 110, 210));
  ASSERT_EQ(trace.intervals.size(), 6u);
  EXPECT_EQ(trace.intervals[5].end, 210);
}

TEST(Recorder, KeepsTheLatestThatFit) {
  const Scratch folder;
  const std::size_t each = 2 * sizeof(std::int64_t) + 2 * sizeof(Interval);
  Recorder recorder(folder.folder(), 7, 0, "", 2, 1'000'000, 4 * each);
  for (int k = 0; k < 11; ++k) keep(recorder, k);

  const RankTrace trace = recorder.kept();

  EXPECT_THAT(trace.iteration_begin, testing::ElementsAre(700, 800, 900, 1000));
  EXPECT_EQ(trace.intervals[0].begin, 700);
}

TEST(Recorder, KeepsOneIterationThatIsLargerThanAllowed) {
  const Scratch folder;
  Recorder recorder(folder.folder(), 7, 0, "", 2, 10, 1);
  for (int k = 0; k < 3; ++k) keep(recorder, k);

  EXPECT_THAT(recorder.kept().iteration_begin, testing::ElementsAre(200));
}

TEST(Recorder, OfAnotherRunOrNoneAtAllIsNoRecord) {
  const Scratch folder;
  const Recorder recorder(folder.folder(), 7, 0, "", 2, 10, plenty);
  std::ofstream(record_file(folder.folder(), 1)) << "something else";

  EXPECT_EQ(read_records(folder.folder(), 3, 8).size(), 0u);
  EXPECT_EQ(read_records(folder.folder(), 3, 7).size(), 1u);
  clear_records(folder.folder());
  EXPECT_TRUE(std::filesystem::is_empty(folder.folder()));
}

TEST(Recorder, TellsAStoppedProcessFromARunningOne) {
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  const std::uint64_t start = process_start(child);
  const Life before = life_of(child, start);
  kill(child, SIGSTOP);
  waitpid(child, nullptr, WUNTRACED);
  const Life stopped = life_of(child, start);
  const Life another = life_of(child, start + 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);

  EXPECT_EQ(before, Life::running);
  EXPECT_EQ(stopped, Life::stopped);
  EXPECT_EQ(another, Life::ended);  // of another process with this number nothing is known
  EXPECT_EQ(life_of(child, start), Life::ended);
}

TEST(Series, MergesNeighboursWhenItIsFull) {
  Series series;
  const std::int64_t count = 3 * std::int64_t(Series::most_rows);
  for (std::int64_t k = 0; k < count; ++k) series.add(k, 1);

  EXPECT_EQ(series.stride(), 4);
  ASSERT_EQ(series.size(), Series::most_rows * 3 / 4);
  std::int64_t next = 0;
  for (std::size_t row = 0; row < series.size(); ++row) {
    EXPECT_EQ(series[row].iteration, next);
    EXPECT_EQ(series[row].count, 4);
    EXPECT_EQ(series[row].low, next);
    EXPECT_EQ(series[row].high, next + 3);
    EXPECT_EQ(series[row].time, 4 * next + 6);
    EXPECT_EQ(series[row].communication, 4);
    next += 4;
  }
}

TEST(Series, OfAllRanksIsTheSlowestsInTheCoarsestRows) {
  Series fine, coarse;
  for (int k = 0; k < 4; ++k) fine.add(10, 1), coarse.add(k < 2 ? 5 : 20, 2);
  coarse.merge_neighbours();

  const auto rows = merged({fine, coarse});

  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].time, 20);
  EXPECT_EQ(rows[0].communication, 2);
  EXPECT_EQ(rows[1].time, 40);
  EXPECT_EQ(rows[1].iteration, 2);
}

TEST(Salvage, TakesWhatAllRanksHaveCompletedOnOneClock) {
  const Scratch folder;
  Recorder one(folder.folder(), 7, 0, "a library", 2, 10, plenty),
      other(folder.folder(), 7, 1, "", 2, 10, plenty);
  for (int k = 0; k < 3; ++k) keep(one, k);
  for (int k = 0; k < 2; ++k) keep(other, k);
  one.add_offset({0, 0, 0});
  other.add_offset({0, 5, 2});
  one.add_note("a note");

  const Trace trace = salvage(plans::spec(2), read_records(folder.folder(), 2, 7), 2);

  EXPECT_EQ(trace.iterations, 2);
  EXPECT_EQ(trace.library, "a library");
  EXPECT_THAT(trace.notes, testing::Contains("a note"));
  ASSERT_EQ(trace.ranks.size(), 2u);
  EXPECT_THAT(trace.ranks[0].iteration_begin, testing::ElementsAre(0, 100));
  EXPECT_THAT(trace.ranks[1].iteration_begin, testing::ElementsAre(5, 105));
}

TEST(Salvage, WithoutARanksRecordThereIsNoIteration) {
  const Scratch folder;
  Recorder one(folder.folder(), 7, 0, "", 2, 10, plenty);
  keep(one, 0);

  const Trace trace =
      salvage_after_loss(plans::spec(2), read_records(folder.folder(), 2, 7), 2, {.text = "why"});

  EXPECT_EQ(trace.iterations, 0);
  EXPECT_FALSE(trace.valid);
  EXPECT_EQ(trace.stopped_by, "lost_rank");
  EXPECT_THAT(trace.notes, testing::Contains("INVALID: why"));
  EXPECT_THAT(trace.notes, testing::Contains(testing::HasSubstr("1 of 2 ranks left no record")));
}

TEST(Salvage, TheFirstDiagnosisIsTheOneThatStays) {
  const Scratch folder;
  leave_diagnosis(folder.folder(),
                  {.missing = {{3, "stopped", "last seen somewhere"}}, .text = "rank 3 is missing"});
  leave_diagnosis(folder.folder(), {.missing = {}, .text = "another"});

  const auto left = left_diagnosis(folder.folder());

  ASSERT_TRUE(left.has_value());
  EXPECT_EQ(left->text, "rank 3 is missing");
  ASSERT_EQ(left->missing.size(), 1u);
  EXPECT_EQ(left->missing[0].rank, 3);
  EXPECT_EQ(left->missing[0].place, "last seen somewhere");
}

}  // namespace
}  // namespace dlnb
