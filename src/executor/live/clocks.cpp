// SPDX-License-Identifier: Apache-2.0
#include "executor/live/clocks.hpp"

#include <cmath>
#include <limits>
#include <span>

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

Offset estimate_offset(const Control& control, Clock& clock) {
  if (!control.first()) return ask(control, clock);
  for (int rank = 1; rank < control.transport().size(); ++rank) answer(control, clock, rank);
  return {clock.now(), 0, 0};
}

std::int64_t on_first_clock(std::int64_t reading, const Offset& before, const Offset& after) {
  if (after.at == before.at) return reading + before.ahead;
  const double drift = double(after.ahead - before.ahead) / double(after.at - before.at);
  return reading + before.ahead + std::llround(drift * double(reading - before.at));
}

}  // namespace dlnb
