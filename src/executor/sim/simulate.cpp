// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "executor/sim/engine.hpp"
#include "executor/sim/memory.hpp"
#include "executor/sim/sim.hpp"

namespace dlnb {
namespace {

/// Room for the measured intervals; refused where it would not leave a quarter of the memory to everything
/// else.
void make_room(const std::vector<sim::Role>& roles, const sim::Lines& lines, Trace& trace) {
  std::int64_t intervals = 0;
  for (const std::int32_t role : lines.role_of)
    intervals += std::int64_t(roles[std::size_t(role)].actions.size());
  const double each = double(intervals) * double(sizeof(Interval)) +
                      double(lines.role_of.size()) * 2 * double(sizeof(std::int64_t));
  const double bytes = each * trace.iterations;
  const Bytes memory = sim::memory_of_this_host();
  if (bytes > 0.75 * double(memory.value))
    throw UserError(
        "--iterations",
        fmt::format("a trace of {} iterations × {} operations over {} ranks takes {:.1f} GB of memory; "
                    "this host has {:.1f} GB",
                    trace.iterations, intervals, lines.role_of.size(), bytes * 1e-9,
                    double(memory.value) * 1e-9),
        "ask for fewer iterations or ranks");

  trace.ranks.resize(lines.role_of.size());
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    RankTrace& rank = trace.ranks[r];
    rank.rank = std::int64_t(r);
    rank.iteration_begin.resize(std::size_t(trace.iterations));
    rank.iteration_end.resize(std::size_t(trace.iterations));
    rank.intervals.resize(std::size_t(trace.iterations) *
                          roles[std::size_t(lines.role_of[r])].actions.size());
  }
}

}  // namespace

Trace simulate(const Schedule& schedule, const Machine& machine, const Placement& placement,
               const RunSpec& spec) {
  DLNB_REQUIRE(std::int64_t(placement.size()) == schedule.grid.ranks(), "every rank is placed on a device");
  const Network& network = entry_called(networks::all(), spec.network, "--network");
  if (spec.iterations < 1) throw UserError("--iterations", "at least one iteration is measured");
  if (spec.warmup < 0 || spec.warmup > INT32_MAX - spec.iterations)
    throw UserError("--warmup",
                    "the number of warm-up iterations is not negative and below 2^31 with the measured ones");
  if (schedule.grid.ranks() >= INT32_MAX)
    throw UserError("--ranks", "the simulator numbers ranks with 31 bits");

  std::vector<sim::Role> roles;
  roles.reserve(schedule.programs.size());
  for (const Program& program : schedule.programs) roles.push_back(sim::reduce(program, schedule.grid));
  const sim::Lines lines = sim::connect(schedule, roles);

  Trace trace;
  trace.executor = "sim";
  trace.library = std::string(network.name);
  trace.iterations = spec.iterations;
  make_room(roles, lines, trace);
  sim::Engine(roles, lines, machine, placement, network, spec.warmup, trace).run();
  return trace;
}

}  // namespace dlnb
