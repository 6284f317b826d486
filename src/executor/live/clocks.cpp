// SPDX-License-Identifier: Apache-2.0
#include "executor/live/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace dlnb {
namespace {

constexpr int round_trips = 40;

Offset ask(const Control& control, Clock& clock) {
  Offset best{0, 0, std::numeric_limits<std::int64_t>::max()};
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t answer = 0;
    const std::int64_t asked = clock.now();
    control.send(0, std::as_bytes(std::span(&asked, 1)));
    control.receive(0, std::as_writable_bytes(std::span(&answer, 1)));
    const std::int64_t answered = clock.now();
    const std::int64_t half = (answered - asked + 1) / 2;
    if (half < best.bound) best = {answered, answer - (asked + half), half};
  }
  return best;
}

void answer(const Control& control, Clock& clock, int rank) {
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t question = 0;
    control.receive(rank, std::as_writable_bytes(std::span(&question, 1)));
    const std::int64_t now = clock.now();
    control.send(rank, std::as_bytes(std::span(&now, 1)));
  }
}

}  // namespace

Offset estimate_offset(const Control& control, Clock& clock, std::span<const int> leaders) {
  const int own = control.transport().rank(), leader = leaders[std::size_t(own)];
  Offset offset;
  if (own != leader) {
    control.receive(leader, std::as_writable_bytes(std::span(&offset, 1)));
    return offset;
  }
  if (own != 0) offset = ask(control, clock);
  for (int rank = 0; rank < int(leaders.size()); ++rank) {
    if (own == 0 && rank != 0 && leaders[std::size_t(rank)] == rank) answer(control, clock, rank);
  }
  if (own == 0) offset = {clock.now(), 0, 0};
  for (int rank = own + 1; rank < int(leaders.size()); ++rank)
    if (leaders[std::size_t(rank)] == own) control.send(rank, std::as_bytes(std::span(&offset, 1)));
  return offset;
}

std::int64_t on_first_clock(std::int64_t reading, std::span<const Offset> estimates) {
  if (estimates.empty()) return reading;
  const auto later = std::ranges::lower_bound(estimates, reading, {}, &Offset::at);
  const auto last = std::clamp<std::ptrdiff_t>(later - estimates.begin(), 1,
                                               std::max<std::ptrdiff_t>(1, std::ssize(estimates) - 1));
  const Offset& before = estimates[std::size_t(last - 1)];
  const Offset& after = estimates[std::min(std::size_t(last), estimates.size() - 1)];
  if (after.at == before.at) return reading + before.ahead;
  const double drift = double(after.ahead - before.ahead) / double(after.at - before.at);
  return reading + before.ahead + std::llround(drift * double(reading - before.at));
}

std::int64_t bound_of_pairs(std::span<const std::int64_t> bounds, std::span<const int> leaders) {
  std::int64_t largest = 0, second = 0;
  for (std::size_t rank = 0; rank < bounds.size(); ++rank) {
    if (leaders[rank] != int(rank)) continue;
    if (bounds[rank] > largest) second = std::exchange(largest, bounds[rank]);
    else second = std::max(second, bounds[rank]);
  }
  return largest + second;
}

}  // namespace dlnb
