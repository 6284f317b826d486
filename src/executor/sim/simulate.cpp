// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "executor/sim/engine.hpp"
#include "executor/sim/fold.hpp"
#include "executor/sim/memory.hpp"
#include "executor/sim/sim.hpp"

namespace dlnb {
namespace {

std::span<const sim::Runner> runners_of(std::size_t job, const sim::Lines& lines,
                                        const std::vector<sim::Job>& jobs) {
  const auto first = std::size_t(jobs[job].first_runner);
  const auto end = job + 1 < jobs.size() ? std::size_t(jobs[job + 1].first_runner) : lines.runners.size();
  return std::span(lines.runners).subspan(first, end - first);
}

/// Refuses traces that would not leave a quarter of the memory to everything else.
void check_memory(const std::vector<SimulatedJob>& jobs, const std::vector<sim::Role>& roles,
                  const sim::Lines& lines, const std::vector<sim::Job>& numbered) {
  double bytes = 0;
  std::int64_t iterations = 0, ranks = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    double values = 0;
    for (const sim::Runner& runner : runners_of(j, lines, numbered))
      values += double(roles[std::size_t(runner.role)].form->values());
    bytes += jobs[j].spec.iterations * values * double(sizeof(std::int64_t));
    iterations += jobs[j].spec.iterations;
    ranks += std::int64_t(jobs[j].placement.size());
  }
  const Bytes memory = sim::memory_of_this_host();
  if (bytes > 0.75 * double(memory.value))
    throw UserError(
        "--iterations",
        fmt::format("a trace of {} iterations over {} ranks takes {:.1f} GB of memory; this host has "
                    "{:.1f} GB",
                    iterations, ranks, bytes * 1e-9, double(memory.value) * 1e-9),
        "ask for fewer iterations or ranks");
}

/// Of a job whose number is `index`; says there where every runner's values are.
Trace empty_trace(const SimulatedJob& job, std::size_t index, const std::vector<sim::Role>& roles,
                  const sim::Lines& lines, const Network& network, std::vector<sim::Job>& numbered) {
  std::vector<std::int64_t*>& values = numbered[index].values;
  values.clear();
  const auto runners = runners_of(index, lines, numbered);
  Trace trace;
  trace.executor = "sim";
  trace.library = std::string(network.name);
  trace.iterations = job.spec.iterations;
  const auto values_of = [&](const sim::Runner& runner) {
    return std::size_t(trace.iterations) * roles[std::size_t(runner.role)].form->values();
  };
  std::size_t size = 0;
  for (const sim::Runner& runner : runners) size += values_of(runner);
  // One block for all ranks, which lives as long as one of them is kept.
  const std::shared_ptr<std::int64_t[]> block = std::make_shared_for_overwrite<std::int64_t[]>(size);
  sim::prefer_large_pages(block.get(), size * sizeof(std::int64_t));
  std::int64_t* next = block.get();
  for (const sim::Runner& runner : runners) {
    values.push_back(next);
    next += values_of(runner);
  }
  const std::size_t ranks = job.placement.size();
  trace.ranks.reserve(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto runner = std::size_t(lines.runner_of[std::size_t(numbered[index].first_rank) + r]);
    trace.ranks.push_back(
        {.rank = std::int64_t(r),
         .simulated = {roles[std::size_t(lines.runners[runner].role)].form,
                       {block, values[runner - std::size_t(numbered[index].first_runner)]}}});
  }
  return trace;
}

/// Takes off what a repeating job had not finished when the others ended.
void cut(Trace& trace, int iterations, const SimulatedJob& job) {
  if (iterations < 1)
    throw UserError(where_of(job.spec.origin, "job.repeat"),
                    fmt::format("the job '{} · {}' had no measured iteration before the others ended",
                                job.schedule.plan, job.schedule.model),
                    "give the others more iterations, or this one less warm-up");
  trace.iterations = iterations;
}

void note(const sim::Disturbance& disturbance, Trace& trace) {
  if (!disturbance.text.empty()) trace.notes.push_back(disturbance.text);
  if (disturbance.overlap_slowdown != 1)
    trace.notes.push_back(fmt::format("compute takes {} times as long while its rank communicates",
                                      disturbance.overlap_slowdown));
}

std::string where_given(const RunSpec& spec, const std::string& key) {
  const Value* const given = spec.origin.find(key);
  return given ? where_of(*given, key) : "--" + key;
}

void check(const SimulatedJob& job) {
  DLNB_REQUIRE(std::int64_t(job.placement.size()) == job.schedule.grid.ranks(),
               "every rank is placed on a device");
  if (job.spec.iterations < 1)
    throw UserError(where_given(job.spec, "iterations"), "at least one iteration is measured");
  if (job.spec.warmup < 0 || job.spec.warmup > INT32_MAX - job.spec.iterations)
    throw UserError(where_given(job.spec, "warmup"),
                    "the number of warm-up iterations is not negative and below 2^31 with the measured ones");
}

}  // namespace

std::vector<Trace> simulate(const std::vector<SimulatedJob>& jobs, const Machine& machine, bool fold) {
  DLNB_REQUIRE(!jobs.empty(), "a simulation has a job");
  const Network& network =
      entry_called(networks::all(), jobs.front().spec.network, where_given(jobs.front().spec, "network"));
  if (std::ranges::all_of(jobs, &SimulatedJob::repeats))
    throw UserError(where_of(jobs.front().spec.origin, "job.repeat"),
                    "all jobs repeat for as long as the others run", "let one of them not repeat");

  std::vector<sim::Role> roles;
  std::vector<std::size_t> role_counts;
  std::vector<sim::Lines> lines;
  std::vector<sim::Disturbance> disturbances;
  std::vector<bool> apart;
  std::int64_t ranks = 0;
  for (const SimulatedJob& job : jobs) {
    check(job);
    ranks += job.schedule.grid.ranks();
    if (ranks >= INT32_MAX) throw UserError("--ranks", "the simulator numbers ranks with 31 bits");
    std::vector<sim::Role> of_job;
    for (const Program& program : job.schedule.programs) {
      of_job.push_back(sim::reduce(program, job.schedule.grid));
      sim::share_actions(of_job);
    }
    role_counts.push_back(of_job.size());
    disturbances.push_back(sim::make_disturbance(job.spec.noise, job.spec.seed));
    const sim::Disturbance& disturbance = disturbances.back();
    if (!job.spec.lower.empty() && disturbance.noise.collectives)
      throw UserError(where_of(job.spec.noise, "noise"), "a lowered schedule has no collectives to disturb",
                      "choose noise of ranks, such as periodic, or leave out --lower");
    disturbances.back().overlap_slowdown =
        job.spec.overlap_slowdown > 0 ? job.spec.overlap_slowdown : machine.software.overlap_slowdown;
    apart.push_back(!fold || network.every_link || disturbance.noise.ranks != nullptr ||
                    disturbance.noise.collectives != nullptr);
    lines.push_back(sim::connect(job.schedule, of_job, disturbance.noise.ranks != nullptr));
    std::ranges::move(of_job, std::back_inserter(roles));  // of lowered schedules they are large
  }

  Placement placement;
  std::vector<sim::Job> numbered;
  std::vector<std::int32_t> first_runner, job_of_runner;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    first_runner.push_back(std::int32_t(job_of_runner.size()));
    numbered.push_back({std::int32_t(placement.size()),
                        first_runner.back(),
                        jobs[j].spec.warmup,
                        jobs[j].spec.warmup + jobs[j].spec.iterations,
                        jobs[j].start.value,
                        jobs[j].repeats,
                        {},
                        &disturbances[j]});
    placement.insert(placement.end(), jobs[j].placement.begin(), jobs[j].placement.end());
    job_of_runner.insert(job_of_runner.end(), lines[j].runners.size(), std::int32_t(j));
  }
  const sim::Lines whole = sim::side_by_side(lines, role_counts);
  lines.clear();
  const sim::Capacities capacities(machine);
  const sim::PathTable table = sim::find_paths(roles, whole, job_of_runner, machine, placement, capacities);
  // What members of a class meet on their ways may differ.
  for (std::size_t j = 0; j < table.goes_around.size(); ++j) apart[j] = apart[j] || table.goes_around[j];
  sim::Folding folding(roles, whole, table, capacities, job_of_runner, apart);
  while (true) {
    const std::optional<sim::Folded> folded = folding.fold();
    const sim::Lines& simulated = folded ? folded->lines : whole;
    for (std::size_t j = 0; j < jobs.size(); ++j)
      numbered[j].first_runner =
          folded ? folded->runner_of_runner[std::size_t(first_runner[j])] : first_runner[j];
    check_memory(jobs, roles, simulated, numbered);
    std::vector<Trace> traces(jobs.size());
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      traces[j] = empty_trace(jobs[j], j, roles, simulated, network, numbered);
      note(disturbances[j], traces[j]);
    }
    const sim::Shared shared = folded ? sim::Shared{folded->members, folded->unlike} : sim::Shared{};
    sim::Engine engine(roles, simulated, folded ? folded->table : table, shared, numbered, capacities,
                       machine, placement, network);
    if (const std::vector<sim::Flows::Torn> torn = engine.run(); !torn.empty()) {
      folding.split(*folded, torn);
      continue;
    }
    const auto link_of = folded ? std::span(folded->link_of) : std::span<const LinkIndex>{};
    const auto part_of = folded ? std::span(folded->part_of) : std::span<const std::int32_t>{};
    std::vector<LinkReport> reports = engine.link_reports(table, part_of, link_of);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      traces[j].links = std::move(reports[j]);
      if (jobs[j].repeats) cut(traces[j], engine.completed_iterations(j), jobs[j]);
    }
    return traces;
  }
}

Trace simulate(const Schedule& schedule, const Machine& machine, const Placement& placement,
               const RunSpec& spec) {
  return std::move(simulate({{schedule, placement, spec}}, machine).front());
}

}  // namespace dlnb
