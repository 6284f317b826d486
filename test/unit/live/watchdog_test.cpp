// SPDX-License-Identifier: Apache-2.0
#include "executor/live/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "executor/live/compute.hpp"

namespace dlnb {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, BarksAtTheOneWhoStays) {
  std::atomic<int> place = -1;
  Watchdog watchdog({0.05}, [&](int stuck, double) { place = stuck; });

  watchdog.enter(7, monotonic_clock().now());
  for (int i = 0; i < 1000 && place < 0; ++i) std::this_thread::sleep_for(10ms);

  EXPECT_EQ(place, 7);
}

// Long loops read no clock: each round is a beat, and only the wait since the last one counts.
TEST(Watchdog, ABeatIsASignOfLife) {
  std::atomic<int> place = -1;
  Watchdog watchdog({0.5}, [&](int stuck, double) { place = stuck; });

  watchdog.enter(7, monotonic_clock().now());
  for (int i = 0; i < 120; ++i) {
    watchdog.beat();
    std::this_thread::sleep_for(10ms);
  }

  EXPECT_EQ(place, -1);
}

TEST(Watchdog, KeepsWhereHelpersBelong) {
  const Cpus allowed = cpus_of_this_thread();
  Cpus last;
  for (std::size_t cpu = 0; cpu < allowed.size(); ++cpu)
    if (allowed[cpu]) last.reset(), last[cpu] = true;
  std::atomic<bool> barked = false;
  Cpus seen;
  Watchdog watchdog({0.02}, [&](int, double) {
    seen = cpus_of_this_thread();
    barked = true;
  });

  watchdog.move_to(last);
  watchdog.enter(1, monotonic_clock().now());
  for (int i = 0; i < 1000 && !barked; ++i) std::this_thread::sleep_for(10ms);

  ASSERT_TRUE(barked);
  EXPECT_EQ(list_text(seen), list_text(last));
  EXPECT_EQ(cpus_of_this_thread(), allowed);
}

}  // namespace
}  // namespace dlnb
