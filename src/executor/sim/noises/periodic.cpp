// SPDX-License-Identifier: Apache-2.0
// Noise of an operating system that comes at regular intervals, such as its timer's interrupts and daemons that poll: a
// rank (or all ranks of a node) is interrupted during [φ + kP, φ + kP + d) for every whole k. φ is drawn evenly from
// [0, P) for each. During an interruption a rank neither computes nor issues operations; data under way moves on.
// Of a long time T a rank loses d/P · T.
#include <array>
#include <cmath>

#include <dlnb/error.hpp>

#include "executor/sim/noise.hpp"

namespace dlnb::noises {
namespace {

enum class Of : std::uint8_t { rank, node };

// 2.5 % of the time, which Ferreira, Bridges and Brightwell ("Characterizing application sensitivity to OS interference
// using kernel-level noise injection", SC 2008) find to cost between nothing and a factor of 20, depending on how it
// comes. Ten times a second is our choice.
struct Params {
  Seconds period{0.1};
  Seconds duration{2.5e-3};
  Of of = Of::rank;
};
constexpr Range above_nothing{1e-9, 1e7};
constexpr auto params = options(
    option("period", &Params::period, "between the beginnings of two interruptions", above_nothing),
    option("duration", &Params::duration, "of an interruption; shorter than the period", above_nothing),
    choice("of", &Params::of, "who is interrupted together: each rank has a phase of its own, or each node",
           std::array<Word<Of>, 2>{{{"rank", Of::rank}, {"node", Of::node}}}));

class Periodic : public sim::RankNoise {
 public:
  Periodic(const Params& given, std::uint64_t seed)
      : period_(given.period.value), duration_(given.duration.value), of_(given.of), seed_(seed) {}

  bool is_of_nodes() const override { return of_ == Of::node; }
  void start(sim::RankState& state) const override {
    state.begin = sim::draw(seed_, state.stream, 0) * period_;
  }

  double done(sim::RankState& state, double start, double work) const override {
    double at = free(state, start);
    const double room = period_ - since(state, at), between = period_ - duration_;
    if (work <= room) return at + work;
    const double left = work - room, whole = std::ceil(left / between) - 1;
    return at + room + whole * period_ + duration_ + (left - whole * between);
  }
  double worked(sim::RankState& state, double start, double until) const override {
    return available(state, until) - available(state, start);
  }
  double free(sim::RankState& state, double at) const override {
    const double x = since(state, at);
    return x < duration_ ? at + (duration_ - x) : at;
  }

 private:
  /// Seconds from the beginning of the last interruption to `at`.
  double since(const sim::RankState& state, double at) const {
    const double x = std::fmod(at - state.begin, period_);
    return x < 0 ? x + period_ : x;
  }
  double available(const sim::RankState& state, double at) const {
    const double periods = std::floor((at - state.begin) / period_);
    const double x = at - state.begin - periods * period_;
    return periods * (period_ - duration_) + std::max(0.0, x - duration_);
  }

  double period_, duration_;
  Of of_;
  std::uint64_t seed_;
};

sim::Noise make(const Value& table, std::uint64_t seed) {
  Params given;
  params.read(table, "noise", given);
  if (given.duration.value >= given.period.value) {
    const Value* duration = table.find("duration");
    const Value* told = duration ? duration : table.find("period");
    throw UserError(told ? where_of(*told, duration ? "noise.duration" : "noise.period") : "noise",
                    "an interruption is as long as the period: nothing would ever be done",
                    "a duration below the period, such as 25 us of 1 ms");
  }
  return {.ranks = std::make_unique<Periodic>(given, seed), .collectives = {}};
}

}  // namespace

extern constinit const NoiseKind periodic{
    .name = "periodic",
    .summary = "ranks are interrupted at regular intervals, each rank or node with a phase of its own",
    .options = [] { return params.info(Params{}); },
    .make = make,
};

}  // namespace dlnb::noises
