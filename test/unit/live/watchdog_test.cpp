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

}  // namespace
}  // namespace dlnb
