// SPDX-License-Identifier: Apache-2.0
// Noise of an operating system that comes at random: interruptions of a rank (or of all ranks of a node) arrive as a
// Poisson process of rate λ, whether it computes or waits, and last for times of mean m. One that arrives during another
// is done after it (the busy periods of an M/G/1 queue), so that λ · m of the time is lost, which must be below 1.
// During an interruption a rank neither computes nor issues operations; data under way moves on. There is none in
// progress when the simulation begins.
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "executor/sim/noise.hpp"

namespace dlnb::noises {
namespace {

enum class Of : std::uint8_t { rank, node };
enum class Distribution : std::uint8_t { constant, exponential, pareto };

// The same 2.5 % as by default of the periodic kind.
struct Params {
  Seconds interval{0.1};
  Seconds duration{2.5e-3};
  Distribution distribution = Distribution::exponential;
  double shape = 2;
  Of of = Of::rank;
};
constexpr Range above_nothing{1e-9, 1e7};
constexpr auto params =
    options(option("interval", &Params::interval, "mean time between the arrivals of two interruptions",
                   above_nothing),
            option("duration", &Params::duration, "mean of an interruption; shorter than the interval",
                   above_nothing),
            choice("distribution", &Params::distribution, "of durations",
                   std::array<Word<Distribution>, 3>{{{"constant", Distribution::constant},
                                                      {"exponential", Distribution::exponential},
                                                      {"pareto", Distribution::pareto}}}),
            option("shape", &Params::shape, "α of the Pareto distribution: P(longer than x) falls as x^−α",
                   Range{1.01, 1e3}),
            choice("of", &Params::of, "who is interrupted together: each rank by itself, or each node",
                   std::array<Word<Of>, 2>{{{"rank", Of::rank}, {"node", Of::node}}}));

class Random : public sim::RankNoise {
 public:
  Random(const Params& given, std::uint64_t seed, std::string where)
      : params_(given),
        seed_(seed),
        where_(std::move(where)),
        draws_per_work_(2 / (given.interval.value - given.duration.value)) {}

  bool is_of_nodes() const override { return params_.of == Of::node; }
  void start(sim::RankState& state) const override { state.arrival = gap(state); }

  double done(sim::RankState& state, double start, double work) const override {
    if (double(state.drawn) + work * draws_per_work_ > double(most_draws)) refuse();
    for (double at = free(state, start);; at = state.end) {
      while (state.end <= at) next(state);
      if (state.begin - at >= work) return at + work;
      work -= std::max(0.0, state.begin - at);
    }
  }
  double worked(sim::RankState& state, double start, double until) const override {
    double sum = 0;
    for (double at = free(state, start); at < until; at = state.end) {
      while (state.end <= at) next(state);
      sum += std::max(0.0, std::min(state.begin, until) - at);
      if (state.begin >= until) break;
    }
    return sum;
  }
  double free(sim::RankState& state, double at) const override {
    while (state.end <= at) next(state);
    return state.begin <= at ? state.end : at;
  }

 private:
  double uniform(sim::RankState& state) const { return sim::draw(seed_, state.stream, state.drawn++); }
  double gap(sim::RankState& state) const { return -params_.interval.value * std::log(uniform(state)); }
  double duration(sim::RankState& state) const {
    const double mean = params_.duration.value;
    switch (params_.distribution) {
      case Distribution::constant: return mean;
      case Distribution::exponential: return -mean * std::log(uniform(state));
      case Distribution::pareto:
        // From x_m on, with mean x_m · α / (α − 1).
        return mean * (params_.shape - 1) / params_.shape * std::pow(uniform(state), -1 / params_.shape);
    }
    return mean;
  }
  /// The busy period that begins with the next arrival.
  void next(sim::RankState& state) const {
    if (state.drawn > most_draws) refuse();
    state.begin = state.arrival;
    state.end = state.begin + duration(state);
    state.arrival += gap(state);
    while (state.arrival < state.end) {
      state.end += duration(state);
      state.arrival += gap(state);
      if (state.drawn > most_draws) refuse();
    }
  }
  [[noreturn]] void refuse() const {
    throw UserError(
        where_, fmt::format("one rank is interrupted more than {} million times", most_draws / 2 / 1'000'000),
        "ask for a longer interval or shorter interruptions");
  }

  /// Some seconds of computing for one rank.
  static constexpr std::uint64_t most_draws = 400'000'000;

  Params params_;
  std::uint64_t seed_;
  std::string where_;
  double draws_per_work_;  ///< 1/s, on average: of an arrival and of a duration
};

sim::Noise make(const Value& table, std::uint64_t seed) {
  Params given;
  params.read(table, "noise", given);
  if (given.duration.value >= given.interval.value) {
    const Value* duration = table.find("duration");
    const Value* told = duration ? duration : table.find("interval");
    throw UserError(told ? where_of(*told, duration ? "noise.duration" : "noise.interval") : "noise",
                    "interruptions come faster than they end: nothing would ever be done",
                    "a mean duration below the mean interval, such as 50 us of 10 ms");
  }
  const Value* shape = table.find("shape");
  if (shape != nullptr && given.distribution != Distribution::pareto)
    throw UserError(where_of(*shape, "noise.shape"), "only the distribution 'pareto' has a shape",
                    "leave it out or set distribution to pareto");
  const Value* interval = table.find("interval");
  std::string where = where_of(interval ? *interval : table, "noise.interval");
  return {.ranks = std::make_unique<Random>(given, seed, std::move(where)), .collectives = {}};
}

}  // namespace

extern constinit const NoiseKind random{
    .name = "random",
    .summary = "ranks are interrupted at random times (Poisson), for times drawn from a distribution",
    .options = [] { return params.info(Params{}); },
    .make = make,
};

}  // namespace dlnb::noises
