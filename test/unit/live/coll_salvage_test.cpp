// SPDX-License-Identifier: Apache-2.0
#include "executor/live/coll_salvage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "executor/live/coll_log.hpp"
#include "unit/scratch.hpp"

namespace dlnb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<CollCase> cases{
    {CollOperation::broadcast, DataType::float32, false, {256, 256, 256, 1024, 1024}},
    {CollOperation::all_reduce, DataType::float32, false, {256, 256, 256, 1024, 1024}}};

CollSpec of(std::int64_t ranks, std::int64_t groups = 1) {
  CollSpec spec;
  spec.ranks = ranks;
  spec.groups = groups;
  return spec;
}

/// All ranks known and alive, waiting in timed iteration 3 of the second row.
std::vector<RankState> waiting(std::int64_t ranks) {
  std::vector<RankState> all(static_cast<std::size_t>(ranks));
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    all[std::size_t(rank)] = {.rank = rank,
                              .life = Life::running,
                              .known = true,
                              .stage = Stage::measuring,
                              .iteration = coll_phases + int(CollPhase::measure),
                              .place = 1,
                              .beats = 4,
                              .waited = 1,
                              .distressed = true};
  return all;
}

void hold_up(RankState& state, std::int64_t before_iteration) {
  state.place = ~1;
  state.beats = before_iteration;
  state.distressed = false;
}

std::vector<std::int64_t> ranks_of(const Diagnosis& diagnosis) {
  std::vector<std::int64_t> ranks;
  for (const LostRankState& lost : diagnosis.missing) ranks.push_back(lost.rank);
  return ranks;
}

TEST(CollDiagnosis, NamesTheMemberThatHasNotComeToTheIteration) {
  auto all = waiting(4);
  hold_up(all[2], 3);

  const Diagnosis diagnosis = diagnose_coll(of(4), cases, all);

  EXPECT_THAT(ranks_of(diagnosis), ElementsAre(2));
  EXPECT_THAT(diagnosis.text,
              HasSubstr("all-reduce of 1024 bytes of float32 (operation 1) of ranks 0–3 of iteration 3"));
  EXPECT_THAT(diagnosis.text, HasSubstr("ranks 0, 1, 3 have waited for 1 s"));
  EXPECT_THAT(diagnosis.missing[0].place, HasSubstr("before all-reduce"));
}

TEST(CollDiagnosis, ARankOfAnEarlierRowHasNotArrived) {
  auto all = waiting(3);
  all[1].iteration = int(CollPhase::verify_after);
  all[1].place = ~0;
  all[1].beats = 100;

  EXPECT_THAT(ranks_of(diagnose_coll(of(3), cases, all)), ElementsAre(1));
}

TEST(CollDiagnosis, FollowsAWaitForAllRanksIntoTheGroupThatHangs) {
  // Ranks 0 and 1 are through and wait for all to collect their times; 2 waits for 3, which never came.
  auto all = waiting(4);
  for (const int rank : {0, 1}) all[std::size_t(rank)].place = int(cases.size()) + int(collecting);
  hold_up(all[3], 3);

  const Diagnosis diagnosis = diagnose_coll(of(4, 2), cases, all);

  EXPECT_THAT(ranks_of(diagnosis), ElementsAre(3));
}

TEST(CollDiagnosis, AnotherGroupsRankBetweenTwoOperationsIsNotMissing) {
  auto all = waiting(4);
  hold_up(all[3], 3);
  all[0].distressed = all[1].distressed = false;
  hold_up(all[0], 2);

  EXPECT_THAT(ranks_of(diagnose_coll(of(4, 2), cases, all)), ElementsAre(3));
}

TEST(CollDiagnosis, ARootThatRanAheadAndDoesNotCallTheLibraryIsNamed) {
  auto all = waiting(3);
  hold_up(all[0], 5);

  EXPECT_THAT(ranks_of(diagnose_coll(of(3), cases, all)), ElementsAre(0));
}

TEST(CollDiagnosis, WhoHasComeToAgreeIsAheadOfWhoHasNot) {
  // Rank 0 has carried out four and asks whether to go on; 1 waits in the fourth, which 2 has not come to.
  auto all = waiting(3);
  all[0].place = int(cases.size()) + int(agreeing);
  hold_up(all[2], 3);

  const Diagnosis diagnosis = diagnose_coll(of(3), cases, all);

  EXPECT_THAT(ranks_of(diagnosis), ElementsAre(2));

  // And who has gone on is ahead of who has not.
  all[0].distressed = false;
  all[0].place = ~all[0].place;
  all[2] = all[1];
  all[1].beats = all[2].beats = 5;

  EXPECT_THAT(ranks_of(diagnose_coll(of(3), cases, all)), ElementsAre(0));
}

TEST(CollDiagnosis, AStoppedRankIsMissingWhereverItIs) {
  auto all = waiting(3);
  all[1].life = Life::stopped;

  const Diagnosis diagnosis = diagnose_coll(of(3), cases, all);

  EXPECT_THAT(ranks_of(diagnosis), ElementsAre(1));
  EXPECT_THAT(diagnosis.missing[0].state, HasSubstr("stopped"));
}

TEST(CollDiagnosis, WhereAllHaveArrivedItIsTheLibraryOrTheNetwork) {
  EXPECT_THAT(diagnose_coll(of(3), cases, waiting(3)).text, HasSubstr("every rank has arrived"));
}

TEST(CollDiagnosis, SaysOfWhomNothingIsKnown) {
  auto all = waiting(3);
  all[2] = {.rank = 2};

  EXPECT_THAT(diagnose_coll(of(3), cases, all).text, HasSubstr("rank 2 cannot"));
}

CollRow measured(CollOperation operation, std::vector<double> series) {
  CollRow row{.operation = operation,
              .ranks = 4,
              .shape = {256, 256, 256, 1024, 1024},
              .iterations = 2,
              .time = 2e-6,
              .low = 1e-6,
              .high = 3e-6,
              .wrong = 7,
              .overlap = CollOverlap{1, 2, 3, 0.5},
              .series = std::move(series)};
  set_bandwidths(row);
  return row;
}

TEST(CollLog, GivesBackWhatWasMeasured) {
  const Scratch scratch;
  CollLog log(scratch.folder(), "a library", cases);
  log.add_note("a note");
  log.add(measured(CollOperation::broadcast, {1e-6, 3e-6}));
  log.add(measured(CollOperation::all_reduce, {}));

  const auto found = read_coll_log(scratch.folder());

  ASSERT_TRUE(found);
  EXPECT_EQ(found->library, "a library");
  EXPECT_THAT(found->notes, ElementsAre("a note"));
  ASSERT_EQ(found->cases.size(), 2u);
  EXPECT_EQ(found->cases[1].operation, CollOperation::all_reduce);
  ASSERT_EQ(found->rows.size(), 2u);
  const CollRow& row = found->rows[0];
  EXPECT_EQ(row.operation, CollOperation::broadcast);
  EXPECT_EQ(row.shape.bytes, 1024);
  EXPECT_EQ(row.time, 2e-6);
  EXPECT_EQ(row.algorithm_bandwidth, 1024 / 2e-6);
  EXPECT_EQ(row.wrong, 7);
  ASSERT_TRUE(row.overlap);
  EXPECT_EQ(row.overlap->share, 0.5);
  EXPECT_THAT(row.series, ElementsAre(1e-6, 3e-6));
  EXPECT_TRUE(found->rows[1].series.empty());
}

TEST(CollLog, LeavesOutWhatWasBeingWritten) {
  const Scratch scratch;
  CollLog log(scratch.folder(), "a library", cases);
  log.add(measured(CollOperation::broadcast, {}));
  const auto whole = std::filesystem::file_size(scratch.folder() / "rows");
  log.add(measured(CollOperation::all_reduce, {}));

  for (const auto cut : {whole + 40, whole + 20, whole + 1}) {
    std::filesystem::resize_file(scratch.folder() / "rows", cut);

    EXPECT_EQ(read_coll_log(scratch.folder())->rows.size(), 1u) << cut;
  }
}

TEST(CollLog, ATableOfALossSaysWhatIsMissing) {
  const Scratch scratch;
  CollLog log(scratch.folder(), "a library", cases);
  log.add(measured(CollOperation::broadcast, {}));

  const CollTable table = salvage_coll(of(4), scratch.folder(),
                                       {{{2, "its process is stopped", "somewhere"}}, "rank 2 is missing"});

  EXPECT_FALSE(table.valid());
  EXPECT_EQ(table.stopped_by, "lost_rank");
  EXPECT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.library, "a library");
  ASSERT_EQ(table.lost.size(), 1u);
  EXPECT_EQ(table.lost[0].rank, 2);
  EXPECT_THAT(table.notes, testing::Contains("INVALID: rank 2 is missing"));
  EXPECT_THAT(table.notes, testing::Contains(HasSubstr("1 of 2 rows")));
}

}  // namespace
}  // namespace dlnb
