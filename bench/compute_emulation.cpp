// SPDX-License-Identifier: Apache-2.0
// How exactly compute phases are emulated: ours beside plain usleep, mean |measured − asked| per phase.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "executor/live/compute.hpp"

namespace {

using namespace dlnb;

struct Row {
  std::int64_t asked;  ///< ns
  int phases;
  std::string plain, shared, ours;
};

/// Error of a phase and of the sum of all, µs.
std::string text(double per_phase, std::int64_t of_sum) {
  return fmt::format("{:.2f} ({:+.1f})", per_phase * 1e-3, double(of_sum) * 1e-3);
}

std::string plain(std::int64_t asked, int phases) {
  Clock& clock = monotonic_clock();
  double errors = 0;
  const std::int64_t begin = clock.now();
  std::int64_t now = begin;
  for (int i = 0; i < phases; ++i) {
    usleep(static_cast<useconds_t>(asked / 1000));
    const std::int64_t end = clock.now();
    errors += double(std::abs(end - now - asked));
    now = end;
  }
  return text(errors / phases, now - begin - asked * phases);
}

std::string ours(std::int64_t asked, int phases, bool spin) {
  Clock& clock = monotonic_clock();
  ExactCompute exact(clock, nullptr);
  SharedCompute shared(clock, nullptr);
  Compute& compute = spin ? static_cast<Compute&>(exact) : shared;
  const std::int64_t begin = clock.now();
  std::int64_t now = begin;
  for (int i = 0; i < phases; ++i) now = compute.run(now, asked).end;
  return text(double(compute.accuracy().nanoseconds), now - begin - asked * phases);
}

}  // namespace

int main() {
  std::vector<Row> rows;
  for (const std::int64_t asked : {100'000, 500'000, 1'000'000, 10'000'000, 100'000'000})
    rows.push_back({asked, int(std::clamp<std::int64_t>(1'000'000'000 / asked, 10, 1000)), {}, {}, {}});
  // All of usleep first: our sleeper lowers the thread's timer slack for good.
  for (Row& row : rows) row.plain = plain(row.asked, row.phases);
  for (Row& row : rows) row.shared = ours(row.asked, row.phases, false);
  for (Row& row : rows) row.ours = ours(row.asked, row.phases, true);

  fmt::print("mean error of a compute phase, us (and of the sum of all phases, us)\n");
  fmt::print("{:>10} {:>7} {:>22} {:>22} {:>22}\n", "asked us", "phases", "usleep", "ours, no spinning",
             "ours");
  for (const Row& row : rows)
    fmt::print("{:>10} {:>7} {:>22} {:>22} {:>22}\n", row.asked / 1000, row.phases, row.plain, row.shared,
               row.ours);
}
