// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include <dlnb/schedule.hpp>
#include <dlnb/trace.hpp>

namespace dlnb::test {

using Story = std::vector<std::string>;

/// What a rank did in an iteration, in the order of time in which its trace says so.
inline Story story_of(const Schedule& schedule, const RankTrace& rank, int iteration) {
  const std::vector<Operation> order = execution_order(schedule.program_of(rank.rank));
  const OperationTimes times = rank.iteration(std::size_t(iteration));
  std::vector<std::size_t> by_time(order.size());
  std::iota(by_time.begin(), by_time.end(), std::size_t{0});
  std::ranges::stable_sort(by_time, {},
                           [&](std::size_t i) { return std::pair(times.begin(i), times.end(i)); });
  Story story;
  for (const std::size_t i : by_time) {
    const Operation& op = order[i];
    story.push_back(std::string(name_of(op.kind)) + " " + name_of(op.phase) + " " +
                    schedule.grid.text(op.axes) + " layer " + std::to_string(op.layer) + " micro-batch " +
                    std::to_string(op.microbatch) + " unit " + std::to_string(op.unit) + " handle " +
                    std::to_string(op.handle));
  }
  return story;
}

/// The first rank, iteration and step in which two traces tell different stories; empty where they agree.
inline std::string difference(const Schedule& schedule, const Trace& a, const Trace& b) {
  if (a.ranks.size() != b.ranks.size() || a.iterations != b.iterations)
    return "different ranks or iterations";
  for (std::size_t r = 0; r < a.ranks.size(); ++r)
    for (int i = 0; i < a.iterations; ++i) {
      const Story x = story_of(schedule, a.ranks[r], i), y = story_of(schedule, b.ranks[r], i);
      const auto [p, q] = std::ranges::mismatch(x, y);
      if (p != x.end() || q != y.end())
        return "rank " + std::to_string(r) + " iteration " + std::to_string(i) + ": " +
               (p == x.end() ? "end" : *p) + " | " + (q == y.end() ? "end" : *q);
    }
  return {};
}

}  // namespace dlnb::test
