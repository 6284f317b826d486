// SPDX-License-Identifier: Apache-2.0
#include "executor/live/core_binding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <thread>

#include <dlnb/error.hpp>

#include "executor/live/backend.hpp"
#include "executor/live/live.hpp"
#include "unit/live/plans.hpp"

namespace dlnb {
namespace {

struct Seen {
  Cpus before, helper, sitting, aside, after;
};

/// Ranks as threads that bind themselves; what each of them saw, and rank 0's map.
std::map<int, Seen> bind_world(int ranks, BindingMode mode, std::vector<RankBinding>& map) {
  std::map<int, Seen> seen;
  std::mutex mutex;
  usable_backend("threads").open({ranks, false}, [&](Transport& transport) {
    const Control control(transport);
    const Neighbours neighbours = find_neighbours(control);
    Seen own{.before = cpus_of_this_thread()};
    {
      const CoreBinding binding(control, neighbours, mode, 1);
      own.helper = cpus_of_this_thread();
      binding.sit();
      own.sitting = cpus_of_this_thread();
      {
        const CoreBinding::Aside aside(binding);
        std::thread([&] { own.aside = cpus_of_this_thread(); }).join();
      }
      EXPECT_EQ(cpus_of_this_thread(), own.sitting);
      if (control.first()) map = binding.map();
    }
    own.after = cpus_of_this_thread();
    const std::lock_guard lock(mutex);
    seen[transport.rank()] = own;
  });
  return seen;
}

TEST(CoreBinding, TheRanksAreWhereTheMapSays) {
  const int ranks = int(std::min<std::size_t>(topology_of_this_host().cores.size(), 4));
  std::vector<RankBinding> map;

  const std::map<int, Seen> seen = bind_world(ranks, BindingMode::numa, map);

  ASSERT_EQ(map.size(), std::size_t(ranks));
  for (const RankBinding& row : map) {
    const Seen& rank = seen.at(int(row.rank));
    EXPECT_TRUE(row.bound);
    EXPECT_EQ(list_text(rank.sitting), row.cores);
    EXPECT_EQ(rank.aside, rank.helper);
    EXPECT_EQ(rank.after, rank.before);
  }
}

// Another run may have taken the cores of this machine; then the map says so.
TEST(CoreBinding, OneCoreEachOrAReason) {
  std::vector<RankBinding> map;

  const std::map<int, Seen> seen = bind_world(1, BindingMode::automatic, map);

  ASSERT_EQ(map.size(), 1u);
  EXPECT_EQ(list_text(seen.at(0).sitting), map[0].cores);
  if (!map[0].bound) {
    EXPECT_EQ(seen.at(0).sitting, seen.at(0).before);
  }
}

TEST(CoreBinding, NoneLeavesRanksWhereTheyAre) {
  std::vector<RankBinding> map;

  const std::map<int, Seen> seen = bind_world(2, BindingMode::none, map);

  for (const auto& [rank, own] : seen) EXPECT_EQ(own.sitting, own.before);
  EXPECT_FALSE(map.at(1).bound);
  EXPECT_EQ(map.at(1).cores, list_text(seen.at(1).before));
}

TEST(CoreBinding, WhatCannotBeIsRefusedByAllRanks) {
  if (!topology_of_this_host().gpus.empty()) GTEST_SKIP() << "this host has a GPU";
  std::vector<RankBinding> map;

  EXPECT_THROW(bind_world(3, BindingMode::gpu, map), Unavailable);
}

TEST(CoreBinding, IsInTheTrace) {
  RunSpec spec = plans::spec(2);
  spec.binding = "numa";

  const std::optional<Trace> trace = run_live(plans::everything(2, 10), spec);

  ASSERT_EQ(trace->binding.size(), 2u);
  EXPECT_TRUE(trace->binding[1].bound);
  EXPECT_THAT(trace->notes,
              testing::Contains(testing::HasSubstr("binding numa: every rank has a NUMA node")));
}

}  // namespace
}  // namespace dlnb
