// SPDX-License-Identifier: Apache-2.0
#include "executor/live/binding.hpp"

#include <gtest/gtest.h>

#include <dlnb/error.hpp>

#include "executor/live/hosts.hpp"
#include "plans.hpp"

namespace dlnb {
namespace {

using namespace plans;

TEST(Binding, BlockingOperationsShareOneLane) {
  const auto gather = collective(OperationKind::all_gather, 1, 4, DataType::bfloat16, 100);
  const auto scatter = collective(OperationKind::reduce_scatter, 1, 4, DataType::float32, 70);

  const Binding binding = bind(alike(4, {gather, scatter, gather}), 0, true);

  ASSERT_EQ(binding.lanes.size(), 1u);
  EXPECT_EQ(binding.lanes[0].send_bytes, 4 * 70 * 4);
  EXPECT_EQ(binding.lanes[0].receive_bytes, 4 * 100 * 2);
  EXPECT_EQ(binding.lanes[0].reduced_bytes, 4 * 70 * 4);
  EXPECT_EQ(binding.slots, 0);
}

TEST(Binding, OutstandingOperationsNeverShareALane) {
  const auto reduce = collective(OperationKind::all_reduce, 1, 2, DataType::float32, 10);
  const Schedule schedule = alike(2, {behind_handle(reduce, 0), behind_handle(reduce, 1), wait(0),
                                      behind_handle(reduce, 2), reduce, wait(2), wait(1)});

  const Binding binding = bind(schedule, 0, true);
  const Binding with_inputs = bind(schedule, 0, false);

  EXPECT_NE(binding.actions[0].lane, binding.actions[1].lane);
  EXPECT_EQ(binding.actions[3].lane, binding.actions[0].lane);  // free again
  EXPECT_NE(binding.actions[4].lane, binding.actions[1].lane);  // blocking, while two are outstanding
  EXPECT_NE(binding.actions[4].lane, binding.actions[3].lane);
  EXPECT_EQ(binding.lanes.size(), 3u);
  EXPECT_EQ(binding.slots, 2);
  EXPECT_EQ(binding.buffer_bytes(), 3 * 10 * 4);
  EXPECT_EQ(with_inputs.buffer_bytes(), 2 * 3 * 10 * 4);
}

TEST(Binding, WaitAllFinishesWhatIsOutstandingOnItsAxes) {
  Schedule schedule = alike(4, {});
  schedule.grid = ProcessGrid({{"tensor", 2}, {"data", 2}});
  const auto on = [](AxisSet axes) {
    return collective(OperationKind::all_reduce, axes, 2, DataType::float32, 1);
  };
  schedule.programs[0].operations = {behind_handle(on(1), 0), behind_handle(on(2), 1),
                                     behind_handle(on(1), 2), wait_all(1), wait(1)};

  const Binding binding = bind(schedule, 3, true);

  const Action& all = binding.actions[3];
  ASSERT_EQ(all.waited_count, 2);
  EXPECT_EQ(binding.waited[std::size_t(all.first_waited)].operation, 0);
  EXPECT_EQ(binding.waited[std::size_t(all.first_waited) + 1].operation, 2);
}

TEST(Binding, GroupsAreThoseOfTheRank) {
  const Schedule schedule = everything(8, 1);

  const Binding binding = bind(schedule, 5, true);  // tensor 1, data 2

  ASSERT_EQ(binding.groups.size(), 4u);
  EXPECT_EQ(binding.groups[0].size(), 8u);
  EXPECT_EQ(binding.groups[1], (std::vector{4, 5}));
  EXPECT_EQ(binding.groups[2], (std::vector{1, 3, 5, 7}));
  EXPECT_EQ(binding.groups[3].size(), 8u);
}

TEST(Binding, ACollectiveOfOneRankMovesNothing) {
  const auto reduce = collective(OperationKind::all_reduce, 1, 1, DataType::float32, 1000);

  const Binding binding = bind(alike(1, {reduce, behind_handle(reduce, 0), wait(0)}), 0, true);

  for (const Action& action : binding.actions) EXPECT_EQ(action.what, Action::What::skip);
  EXPECT_EQ(binding.buffer_bytes(), 0);
}

TEST(Binding, FollowsTheExecutionOrder) {
  auto ahead = behind_handle(collective(OperationKind::all_gather, 1, 2, DataType::bfloat16, 8), 0);
  ahead.ahead = true;

  const Binding binding = bind(alike(2, {compute(1e-3), ahead, wait(0)}), 0, true);

  EXPECT_EQ(binding.actions[0].what, Action::What::start);
  EXPECT_EQ(binding.actions[1].what, Action::What::compute);
  EXPECT_EQ(binding.actions[1].asked, 1'000'000);
}

TEST(Binding, RefusesWhatCannotBeDoneLive) {
  Operation read;
  read.kind = OperationKind::storage_read;

  EXPECT_THROW(refuse_unsupported(alike(1, {read})), Unavailable);
}

HostFacts rank_on(const char* host, const char* boot, std::int64_t available, std::int64_t buffers,
                  int core) {
  HostFacts facts;
  std::snprintf(facts.identity.data(), facts.identity.size(), "%s %s", host, boot);
  facts.available = available;
  facts.buffers = buffers;
  CPU_ZERO(&facts.cores);
  CPU_SET(core, &facts.cores);
  return facts;
}

TEST(Hosts, AddsUpTheRanksOfEachHost) {
  const HostFacts ranks[] = {rank_on("a", "1", 100, 40, 0), rank_on("b", "2", 100, 70, 0),
                             rank_on("a", "1", 100, 50, 1)};

  const auto hosts = hosts_of(ranks);

  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].ranks, 2);
  EXPECT_EQ(hosts[0].cores, 2);  // bound to different ones
  EXPECT_FALSE(hosts[0].cores_shared());
  EXPECT_EQ(hosts[0].buffers, 40 + 50);
  EXPECT_EQ(memory_shortage(hosts), "");
}

TEST(Hosts, OfOneMachineShareItsCoresAndMemoryButNoClock) {
  const HostFacts ranks[] = {rank_on("h1", "1", 100, 60, 0), rank_on("h2", "1", 100, 60, 0)};

  const auto hosts = hosts_of(ranks);

  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_TRUE(hosts[0].cores_shared());
  EXPECT_NE(memory_shortage(hosts), "");
  EXPECT_FALSE(one_clock(ranks));
  EXPECT_TRUE(one_clock(std::span(ranks).first(1)));
}

TEST(Hosts, SaysWhatDoesNotFit) {
  const HostFacts ranks[] = {rank_on("a", "1", 1'000'000, 600'000, 0),
                             rank_on("a", "1", 1'000'000, 600'000, 0)};

  const auto hosts = hosts_of(ranks);

  EXPECT_TRUE(hosts[0].cores_shared());
  EXPECT_NE(memory_shortage(hosts).find("1.2 MB"), std::string::npos) << memory_shortage(hosts);
}

}  // namespace
}  // namespace dlnb
