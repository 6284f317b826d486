// SPDX-License-Identifier: Apache-2.0
#include "executor/live/coll_timing.hpp"

namespace dlnb {
namespace {

/// Calls `stretch(first, last)` for one after the other of all iterations; false where the ranks have agreed to end.
template <class Stretch>
bool in_stretches(int iterations, const NextStretch& next, Stretch stretch) {
  for (int first = 0, last = 0; first < iterations; first = last) {
    last = first + next(iterations - first);
    if (last == first) return false;
    stretch(first, last);
  }
  return true;
}

}  // namespace

void CollTimer::start(const CollMoves& moves) {
  outstanding_->start(0, moves.first);
  if (moves.form == CollMoves::Form::at_once) outstanding_->start(1, moves.second);
}

void CollTimer::wait(const CollMoves& moves) {
  outstanding_->wait(0);
  if (moves.form == CollMoves::Form::at_once) outstanding_->wait(1);
}

void CollTimer::once(const CollMoves& moves) {
  place_.beat();
  if (!outstanding_) return carry_out(transport_, moves);
  start(moves);
  wait(moves);
}

bool CollTimer::warm_up(const CollMoves& moves, const NextStretch& next) {
  return in_stretches(spec_.warmup, next, [&](int first, int last) {
    for (int i = first; i < last; ++i) once(moves);
  });
}

std::optional<CollTimes> CollTimer::measure(const CollMoves& moves, std::vector<std::int64_t>& series,
                                            const NextStretch& next,
                                            const std::optional<CollIncident>& incident) {
  std::int64_t total = 0;
  const bool complete = in_stretches(spec_.iterations, next, [&](int first, int last) {
    int begin = first;
    if (incident && first <= incident->iteration && incident->iteration < last) {
      begin = incident->iteration;
      total += timed(moves, series, first, begin);
      const std::int64_t struck = clock_.now();
      incident->strike();
      total += clock_.now() - struck;
    }
    total += timed(moves, series, begin, last);
  });
  if (!complete) return std::nullopt;
  for (std::int64_t& time : series) time = std::int64_t(double(time) * moves.share);
  return CollTimes{double(total) * moves.share / double(spec_.iterations)};
}

std::int64_t CollTimer::timed(const CollMoves& moves, std::vector<std::int64_t>& series, int first,
                              int last) {
  return spec_.definitions == CollDefinitions::osu ? one_by_one(moves, series, first, last)
                                                   : back_to_back(moves, series, first, last);
}

std::int64_t CollTimer::back_to_back(const CollMoves& moves, std::vector<std::int64_t>& series, int first,
                                     int last) {
  const std::int64_t begin = clock_.now();
  if (!series.empty()) {
    std::int64_t previous = begin;
    for (int i = first; i < last; ++i) {
      once(moves);
      const std::int64_t now = clock_.now();
      series[std::size_t(i)] = now - previous;
      previous = now;
    }
  } else if (!outstanding_ && moves.form == CollMoves::Form::one) {
    transport_.repeat(moves.first, last - first, place_.beats);
  } else {
    for (int i = first; i < last; ++i) once(moves);
  }
  if (moves.closing && last == spec_.iterations) transport_.run(*moves.closing);
  return clock_.now() - begin;
}

std::int64_t CollTimer::one_by_one(const CollMoves& moves, std::vector<std::int64_t>& series, int first,
                                   int last) {
  std::int64_t total = 0;
  for (int i = first; i < last; ++i) {
    transport_.run(in_step_);
    const std::int64_t begin = clock_.now();
    once(moves);
    if (moves.closing) transport_.run(*moves.closing);
    const std::int64_t time = clock_.now() - begin;
    if (!series.empty()) series[std::size_t(i)] = time;
    total += time;
  }
  return total;
}

bool CollTimer::overlap(const CollMoves& moves, const NextStretch& next, Compute& compute, CollTimes& times) {
  const auto asked = std::int64_t(times.mean);
  const bool in_step = spec_.definitions == CollDefinitions::osu;
  std::int64_t computed = 0, overall = 0;
  const bool complete = in_stretches(spec_.iterations, next, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      if (in_step) transport_.run(in_step_);
      place_.beat();
      const std::int64_t begin = clock_.now();
      start(moves);
      const std::int64_t started = clock_.now();
      const std::int64_t ended = compute.run(started, asked).end;
      wait(moves);
      computed += ended - started;
      overall += clock_.now() - begin;
    }
  });
  times.compute = double(computed) / double(spec_.iterations);
  times.overall = double(overall) / double(spec_.iterations);
  return complete;
}

}  // namespace dlnb
