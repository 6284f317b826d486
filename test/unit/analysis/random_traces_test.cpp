// SPDX-License-Identifier: Apache-2.0
// Whatever happened, the parts of an iteration are not negative and sum to it exactly.
#include <gtest/gtest.h>

#include <random>

#include "analysis/walk.hpp"
#include "unit/analysis/world.hpp"

namespace dlnb {
namespace {

using namespace world;

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t limit) { return std::int64_t(engine_() % std::uint64_t(limit)); }

 private:
  std::mt19937_64 engine_;
};

// pipeline × data × tensor of at most 2 each; messages between stages, collectives over any axes, some
// non-blocking and waited for one by one or together.
Schedule random_schedule(Dice& dice) {
  const std::int64_t stages = 1 + dice.below(2);
  std::vector<std::vector<Operation>> programs(static_cast<std::size_t>(stages));
  std::int32_t handle = 0;
  std::vector<Operation> outstanding;
  for (std::int64_t left = 5 + dice.below(40); left > 0; --left) {
    const auto everyone = [&](const Operation& operation) {
      for (auto& program : programs) program.push_back(operation);
    };
    const auto axes = AxisSet(1 + dice.below(7));
    switch (dice.below(6)) {
      case 0: programs[std::size_t(dice.below(stages))].push_back(compute()); break;
      case 1: everyone(all_reduce(axes)); break;
      case 2:
        outstanding.push_back(start(all_reduce(axes), handle++));
        everyone(outstanding.back());
        break;
      case 3:
        if (outstanding.empty()) break;
        everyone(wait(outstanding.back()));
        outstanding.pop_back();
        break;
      case 4:
        everyone(wait_all(axes));
        std::erase_if(outstanding, [&](const Operation& operation) { return operation.axes == axes; });
        break;
      case 5:
        if (stages == 1) break;
        programs[0].push_back(send(1, 1));
        programs[1].push_back(recv(1, 0));
        if (dice.below(2) == 0) {
          programs[0].back() = start(programs[0].back(), handle++);
          programs[1].back() = start(programs[1].back(), handle++);
        }
        break;
    }
  }
  return roles({{"pipeline", stages}, {"data", 1 + dice.below(2)}, {"tensor", 1 + dice.below(2)}}, 0,
               programs);
}

// Every rank's own order holds; between ranks clocks may be wrong by anything.
Trace random_trace(const Schedule& schedule, Dice& dice) {
  Trace trace{.executor = "threads", .iterations = 1 + int(dice.below(3)), .clock_bound_ns = 100};
  for (std::int64_t rank = 0; rank < schedule.grid.ranks(); ++rank) {
    RankTrace of{.rank = rank};
    std::int64_t now = dice.below(1000);
    for (int iteration = 0; iteration < trace.iterations; ++iteration) {
      of.iteration_begin.push_back(now);
      for (std::size_t i = 0; i < schedule.program_of(rank).operations.size(); ++i) {
        Interval interval{.begin = now += dice.below(3), .end = now += dice.below(200)};
        interval.completed = interval.end + dice.below(400);
        of.intervals.push_back(interval);
      }
      of.iteration_end.push_back(now += dice.below(50));
    }
    trace.ranks.push_back(std::move(of));
  }
  return trace;
}

TEST(RandomTraces, PartsSumToTheIterationExactly) {
  std::int64_t transfer = 0, straggler_wait = 0, pipeline_bubble = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const Trace trace = random_trace(schedule, dice);
    const Matching matching = match(schedule);
    Arrivals arrivals(matching, trace);

    const Attribution attribution = attribute(schedule, trace, arrivals);

    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank)
      for (std::size_t i = 0; i < std::size_t(trace.iterations); ++i) {
        const Breakdown& of = attribution.of[rank][i];
        ASSERT_EQ(of.compute + of.transfer + of.straggler_wait + of.pipeline_bubble,
                  trace.ranks[rank].iteration_end[i] - trace.ranks[rank].iteration_begin[i]);
        ASSERT_GE(std::min({of.compute, of.transfer, of.straggler_wait, of.pipeline_bubble}), 0);
        transfer += of.transfer, straggler_wait += of.straggler_wait, pipeline_bubble += of.pipeline_bubble;
      }
  }
  EXPECT_GT(std::min({transfer, straggler_wait, pipeline_bubble}), 0) << "the traces exercise every cause";
}

TEST(RandomTraces, SynchronisationIsBlockingOperationsAndWaits) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const Trace trace = random_trace(schedule, dice);
    const Matching matching = match(schedule);
    Arrivals arrivals(matching, trace);

    const Attribution attribution = attribute(schedule, trace, arrivals);

    for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
      const auto& operations = matching.program_of(std::int64_t(rank)).operations;
      std::int64_t expected = 0;
      for (std::size_t i = 0; i < operations.size(); ++i)
        if (is_wait(operations[i].kind) || (moves_data(operations[i].kind) && operations[i].blocking))
          expected += trace.ranks[rank].intervals[i].end - trace.ranks[rank].intervals[i].begin;
      ASSERT_EQ(attribution.of[rank][0].sync(), expected);
    }
  }
}

TEST(RandomTraces, PiecesAreInOrderAndDisjoint) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const Schedule schedule = random_schedule(dice);
    const Trace trace = random_trace(schedule, dice);
    const Matching matching = match(schedule);
    Arrivals arrivals(matching, trace);
    arrivals.load(0);
    Walk scratch;

    for (const RankTrace& rank : trace.ranks) {
      std::int64_t now = rank.iteration_begin[0];
      walk(arrivals, rank.rank, scratch, [&](OperationIndex, Cause, std::int64_t begin, std::int64_t end) {
        ASSERT_GE(begin, now);
        ASSERT_GT(end, begin);
        now = end;
      });
      ASSERT_LE(now, rank.iteration_end[0]);
    }
  }
}

}  // namespace
}  // namespace dlnb
