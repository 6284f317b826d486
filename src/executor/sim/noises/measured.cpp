// SPDX-License-Identifier: Apache-2.0
// Delays drawn from what was measured. A file is one of:
//   the JSON of `coll --series`: x_i / base − 1 of the times x_i of every row's series; for every collective one of these
//   (of all rows, each as likely) is drawn and it takes 1 + that times as long;
//   the JSON of a result: x_i / base − 1 of the compute times x_i of its iterations; one is drawn for every rank and
//   iteration, whose compute phases all take 1 + that times as long (what slows an iteration is slow for longer than
//   one phase);
//   a TOML or JSON table with `relative` numbers or absolute `delays`, ≥ 0: one is drawn for every collective or compute
//   phase. With `probabilities` p_1 = 0 < … < p_n = 1 they are quantiles, between which the distribution is linear.
// `base` is the least or the middle of the x_i, by what the simulated time stands for. Shorter times count as no delay:
// noise only adds. Draws are independent: what follows on what in the file is lost. A result has its slowest rank's
// compute time only, which all ranks draw from.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "executor/sim/noise.hpp"

namespace dlnb::noises {
namespace {

enum class To : std::uint8_t { by_file, compute, collectives };
enum class Base : std::uint8_t { minimum, median };

struct Params {
  std::string file;
  To to = To::by_file;
  Base base = Base::minimum;
};
constexpr auto params =
    options(option("file", &Params::file,
                   "JSON of `coll --series` or of a result, or a table of delays; has to be given"),
            choice("to", &Params::to, "what is delayed; a result's and a benchmark's file say so themselves",
                   std::array<Word<To>, 3>{
                       {{"file", To::by_file}, {"compute", To::compute}, {"collectives", To::collectives}}}),
            choice("base", &Params::base, "of measured times: what the time without noise is",
                   std::array<Word<Base>, 2>{{{"minimum", Base::minimum}, {"median", Base::median}}}));

constexpr double longest = 1e7;  ///< of a delay, in seconds or relative to the time

/// A distribution of delays ≥ 0, of the time itself or in seconds.
struct Delays {
  std::vector<double> values;
  std::vector<double> probabilities;  ///< of quantiles, ascending from 0 to 1; empty: each value is as likely
  bool relative = true;
  bool by_iteration = false;
  To to = To::by_file;

  double at(double p) const {
    if (probabilities.empty())
      return values[std::min(values.size() - 1, std::size_t(p * double(values.size())))];
    const std::size_t above = std::size_t(std::ranges::upper_bound(probabilities, p) - probabilities.begin());
    const double low = probabilities[above - 1], high = probabilities[above];
    return values[above - 1] + (values[above] - values[above - 1]) * (p - low) / (high - low);
  }
};

std::vector<double> numbers_of(const Value& array, std::string_view key) {
  std::vector<double> numbers;
  for (const Value& each : array.array(key)) read_value(each, key, numbers.emplace_back());
  return numbers;
}

/// Adds x / base − 1 of measured times.
void add_excess(const std::vector<double>& times, Base base, const Value& at, std::string_view key,
                Delays& delays) {
  if (times.size() < 2)
    throw UserError(
        where_of(at, key),
        fmt::format("{} measured time{} show no noise", times.size(), times.size() == 1 ? "" : "s"),
        "measure more iterations");
  std::vector<double> sorted = times;
  std::ranges::sort(sorted);
  const double reference = base == Base::minimum ? sorted.front() : sorted[sorted.size() / 2];
  if (!(sorted.front() > 0))
    throw UserError(where_of(at, key), "a measured time is not above 0",
                    "take a file in which something took time");
  for (const double time : times) {
    const double delay = std::max(0.0, time / reference - 1);
    if (!(delay <= longest))
      throw UserError(where_of(at, key), fmt::format("a time is more than {:g} times another one", longest),
                      "take times of one thing, all in seconds");
    delays.values.push_back(delay);
  }
}

Delays read_series(const Value& table, Base base) {
  Delays delays;
  delays.to = To::collectives;
  const Value* rows = table.find("rows");
  if (rows == nullptr) throw UserError(where_of(table, "rows"), "is missing");
  for (const Value& row : rows->array("rows"))
    if (const Value* series = row.find("series"))
      add_excess(numbers_of(*series, "rows.series"), base, *series, "rows.series", delays);
  if (delays.values.empty())
    throw UserError(where_of(*rows, "rows"), "no row has a series of times", "measure with coll --series");
  return delays;
}

Delays read_result(const Value& table, Base base) {
  Delays delays;
  delays.to = To::compute;
  delays.by_iteration = true;
  const Value* iterations = table.find("iterations");
  if (iterations == nullptr) throw UserError(where_of(table, "iterations"), "is missing");
  std::vector<double> times;
  for (const Value& iteration : iterations->array("iterations")) {
    const Value* compute = iteration.find("compute");
    if (compute == nullptr) throw UserError(where_of(iteration, "iterations.compute"), "is missing");
    read_value(*compute, "iterations.compute", times.emplace_back());
  }
  add_excess(times, base, *iterations, "iterations", delays);
  return delays;
}

void check_probabilities(const Value& array, const Delays& delays) {
  const std::vector<double>& p = delays.probabilities;
  const bool fits = p.size() == delays.values.size() && p.size() > 1 && p.front() == 0 && p.back() == 1 &&
                    std::ranges::is_sorted(p, std::less_equal<>{}) && std::ranges::is_sorted(delays.values);
  if (!fits)
    throw UserError(where_of(array, "probabilities"),
                    "quantiles are as many ascending values as ascending probabilities from 0 to 1",
                    "for example probabilities = [0, 0.5, 1], relative = [0, 0.01, 0.2]");
}

Delays read_table(const Value& table) {
  reject_unknown(table, "", {"relative", "delays", "probabilities", "source"});
  Delays delays;
  const Value *relative = table.find("relative"), *absolute = table.find("delays");
  if ((relative == nullptr) == (absolute == nullptr))
    throw UserError(where_of(relative ? *absolute : table, relative ? "delays" : "relative"),
                    "a file of delays has either 'relative' numbers or 'delays' with a unit",
                    "for example relative = [0, 0.01, 0.2] or delays = [\"0 s\", \"20 us\"]");
  delays.relative = relative != nullptr;
  if (relative) {
    delays.values = numbers_of(*relative, "relative");
  } else {
    for (const Value& each : absolute->array("delays")) {
      Seconds delay;
      read_value(each, "delays", delay);
      delays.values.push_back(delay.value);
    }
  }
  const Value& values = relative ? *relative : *absolute;
  const char* key = relative ? "relative" : "delays";
  if (delays.values.empty()) throw UserError(where_of(values, key), "must not be empty");
  for (std::size_t i = 0; i < delays.values.size(); ++i)
    check_range(values.array()[i], key, delays.values[i], Range{0, longest});
  if (const Value* probabilities = table.find("probabilities")) {
    delays.probabilities = numbers_of(*probabilities, "probabilities");
    check_probabilities(*probabilities, delays);
  }
  return delays;
}

Delays read_delays(const Params& given, const Value& table) {
  const Value document = read_document(given.file);
  const Value* schema = document.find("schema");
  std::string name;
  if (schema != nullptr) read_value(*schema, "schema", name);
  Delays delays;
  if (schema == nullptr) delays = read_table(document);
  else if (name == "dlnetbench.coll/1") delays = read_series(document, given.base);
  else if (name == "dlnetbench.result/1") delays = read_result(document, given.base);
  else
    throw UserError(where_of(*schema, "schema"), fmt::format("{} holds no measured times", in_quotes(name)),
                    "take a file of `coll --series` or `run`, or a table of delays");
  const Value* base = table.find("base");
  if (schema == nullptr && base != nullptr)
    throw UserError(where_of(*base, "noise.base"), "the file holds delays, not times",
                    "leave it out: delays are over nothing else");
  const Value* to = table.find("to");
  if (delays.to == To::by_file && given.to == To::by_file)
    throw UserError(to ? where_of(*to, "noise.to") : where_of(table, "noise.to"),
                    "a file of delays does not say what they are of", "set to to compute or collectives");
  if (delays.to != To::by_file && given.to != To::by_file && delays.to != given.to)
    throw UserError(
        where_of(*to, "noise.to"),
        delays.to == To::compute ? "the file holds times of compute" : "the file holds times of collectives",
        "leave it out");
  if (given.to != To::by_file) delays.to = given.to;
  return delays;
}

class OfCompute : public sim::RankNoise {
 public:
  OfCompute(Delays delays, std::uint64_t seed) : delays_(std::move(delays)), seed_(seed) {}

  bool is_of_compute() const override { return true; }
  void begin(sim::RankState& state, std::int64_t iteration) const override {
    const std::uint64_t count = delays_.by_iteration ? std::uint64_t(iteration) : state.drawn++;
    const double value = delays_.at(sim::draw(seed_, state.stream, count));
    (delays_.relative ? state.stretch : state.delay) = value;
  }
  double done(sim::RankState& state, double start, double work) const override {
    return start + state.delay + work * (1 + state.stretch);
  }
  double worked(sim::RankState& state, double start, double until) const override {
    const double waited = std::min(state.delay, until - start);
    state.delay -= waited;
    return (until - start - waited) / (1 + state.stretch);
  }

 private:
  Delays delays_;
  std::uint64_t seed_;
};

class OfCollectives : public sim::CollectiveNoise {
 public:
  OfCollectives(Delays delays, std::uint64_t seed) : delays_(std::move(delays)), seed_(seed) {}

  double longer(sim::CollectiveState& state, const sim::Moved& moved) const override {
    const double value = delays_.at(sim::draw(seed_, state.stream, std::uint64_t(moved.number)));
    return delays_.relative ? value * moved.took : value;
  }

 private:
  Delays delays_;
  std::uint64_t seed_;
};

sim::Noise make(const Value& table, std::uint64_t seed) {
  Params given;
  params.read(table, "noise", given);
  if (given.file.empty())
    throw UserError(where_of(table, "noise.file"), "is missing", "for example file = \"series.json\"");
  Delays delays = read_delays(given, table);
  if (delays.to == To::compute)
    return {.ranks = std::make_unique<OfCompute>(std::move(delays), seed), .collectives = {}};
  return {.ranks = {}, .collectives = std::make_unique<OfCollectives>(std::move(delays), seed)};
}

}  // namespace

extern constinit const NoiseKind measured{
    .name = "measured",
    .summary = "delays drawn from measured times, of collectives (`coll --series`) or of compute (a result)",
    .options = [] { return params.info(Params{}); },
    .make = make,
};

}  // namespace dlnb::noises
