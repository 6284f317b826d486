// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "executor/sim/engine.hpp"
#include "executor/sim/memory.hpp"
#include "executor/sim/sim.hpp"

namespace dlnb {
namespace {

/// Refuses traces that would not leave a quarter of the memory to everything else.
void check_memory(const std::vector<SimulatedJob>& jobs, const std::vector<std::vector<sim::Role>>& roles,
                  const std::vector<sim::Lines>& lines) {
  double bytes = 0;
  std::int64_t iterations = 0, ranks = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const Schedule& schedule = jobs[j].schedule;
    double values = double(schedule.grid.ranks()) * 2;
    for (const sim::Runner& runner : lines[j].runners)
      values += double(roles[j][std::size_t(runner.role)].form->values());
    bytes += jobs[j].spec.iterations * values * double(sizeof(std::int64_t));
    iterations += jobs[j].spec.iterations;
    ranks += schedule.grid.ranks();
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

/// `values`: where every runner's are.
Trace empty_trace(const SimulatedJob& job, const std::vector<sim::Role>& roles, const sim::Lines& lines,
                  const Network& network, std::vector<std::int64_t*>& values) {
  Trace trace;
  trace.executor = "sim";
  trace.library = std::string(network.name);
  trace.iterations = job.spec.iterations;
  trace.ranks.resize(std::size_t(job.schedule.grid.ranks()));
  const auto values_of = [&](const sim::Runner& runner) {
    return std::size_t(trace.iterations) * roles[std::size_t(runner.role)].form->values();
  };
  std::size_t size = 0;
  for (const sim::Runner& runner : lines.runners) size += values_of(runner);
  // One block for all ranks, which lives as long as one of them is kept.
  const std::shared_ptr<std::int64_t[]> block = std::make_shared_for_overwrite<std::int64_t[]>(size);
  sim::prefer_large_pages(block.get(), size * sizeof(std::int64_t));
  std::int64_t* next = block.get();
  for (const sim::Runner& runner : lines.runners) {
    values.push_back(next);
    next += values_of(runner);
  }
  for (std::size_t r = 0; r < trace.ranks.size(); ++r) {
    RankTrace& rank = trace.ranks[r];
    rank.rank = std::int64_t(r);
    rank.iteration_begin.resize(std::size_t(trace.iterations));
    rank.iteration_end.resize(std::size_t(trace.iterations));
    const auto runner = std::size_t(lines.runner_of[r]);
    rank.simulated = {roles[std::size_t(lines.runners[runner].role)].form, {block, values[runner]}};
  }
  return trace;
}

/// Takes off what a repeating job had not finished when the others ended.
void cut(Trace& trace, int iterations, const SimulatedJob& job) {
  if (iterations < 1)
    throw UserError("repeat",
                    fmt::format("the job '{} · {}' had no measured iteration before the others ended",
                                job.schedule.plan, job.schedule.model),
                    "give the others more iterations, or this one less warm-up");
  for (RankTrace& rank : trace.ranks) {
    rank.iteration_begin.resize(std::size_t(iterations));
    rank.iteration_end.resize(std::size_t(iterations));
  }
  trace.iterations = iterations;
}

void note(const sim::Disturbance& disturbance, Trace& trace) {
  if (!disturbance.text.empty()) trace.notes.push_back(disturbance.text);
  if (disturbance.overlap_slowdown != 1)
    trace.notes.push_back(fmt::format("compute takes {} times as long while its rank communicates",
                                      disturbance.overlap_slowdown));
}

void check(const SimulatedJob& job) {
  DLNB_REQUIRE(std::int64_t(job.placement.size()) == job.schedule.grid.ranks(),
               "every rank is placed on a device");
  if (job.spec.iterations < 1) throw UserError("--iterations", "at least one iteration is measured");
  if (job.spec.warmup < 0 || job.spec.warmup > INT32_MAX - job.spec.iterations)
    throw UserError("--warmup",
                    "the number of warm-up iterations is not negative and below 2^31 with the measured ones");
}

}  // namespace

std::vector<Trace> simulate(const std::vector<SimulatedJob>& jobs, const Machine& machine) {
  DLNB_REQUIRE(!jobs.empty(), "a simulation has a job");
  const Network& network = entry_called(networks::all(), jobs.front().spec.network, "--network");
  if (std::ranges::all_of(jobs, &SimulatedJob::repeats))
    throw UserError("repeat", "all jobs repeat for as long as the others run", "let one of them not repeat");

  std::vector<std::vector<sim::Role>> roles;
  std::vector<std::size_t> role_counts;
  std::vector<sim::Lines> lines;
  std::vector<sim::Disturbance> disturbances;
  std::int64_t ranks = 0;
  for (const SimulatedJob& job : jobs) {
    check(job);
    ranks += job.schedule.grid.ranks();
    if (ranks >= INT32_MAX) throw UserError("--ranks", "the simulator numbers ranks with 31 bits");
    roles.emplace_back();
    for (const Program& program : job.schedule.programs) {
      roles.back().push_back(sim::reduce(program, job.schedule.grid));
      sim::share_actions(roles.back());
    }
    role_counts.push_back(roles.back().size());
    disturbances.push_back(sim::make_disturbance(job.spec.noise, job.spec.seed));
    if (!job.spec.lower.empty() && disturbances.back().noise.collectives)
      throw UserError(where_of(job.spec.noise, "noise"), "a lowered schedule has no collectives to disturb",
                      "choose noise of ranks, such as periodic, or leave out --lower");
    disturbances.back().overlap_slowdown =
        job.spec.overlap_slowdown > 0 ? job.spec.overlap_slowdown : machine.software.overlap_slowdown;
    lines.push_back(sim::connect(job.schedule, roles.back(), disturbances.back().noise.ranks != nullptr));
  }
  check_memory(jobs, roles, lines);

  std::vector<Trace> traces;
  std::vector<std::vector<std::int64_t*>> values(jobs.size());
  std::vector<sim::Role> all_roles;
  Placement placement;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    traces.push_back(empty_trace(jobs[j], roles[j], lines[j], network, values[j]));
    std::ranges::move(roles[j], std::back_inserter(all_roles));  // of lowered schedules they are large
    placement.insert(placement.end(), jobs[j].placement.begin(), jobs[j].placement.end());
  }
  std::vector<sim::Job> numbered;
  std::int32_t first_rank = 0, first_runner = 0;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    numbered.push_back({first_rank, first_runner, jobs[j].spec.warmup,
                        jobs[j].spec.warmup + jobs[j].spec.iterations, jobs[j].start.value, jobs[j].repeats,
                        &traces[j], std::move(values[j]), &disturbances[j]});
    note(disturbances[j], traces[j]);
    first_rank += std::int32_t(jobs[j].placement.size());
    first_runner += std::int32_t(lines[j].runners.size());
  }
  const sim::Lines all_lines = sim::side_by_side(lines, role_counts);
  sim::Engine engine(all_roles, all_lines, numbered, machine, placement, network);
  engine.run();
  std::vector<LinkReport> reports = engine.link_reports(machine);
  for (std::size_t j = 0; j < jobs.size(); ++j) traces[j].links = std::move(reports[j]);
  for (std::size_t j = 0; j < jobs.size(); ++j)
    if (jobs[j].repeats) cut(traces[j], engine.completed_iterations(j), jobs[j]);
  return traces;
}

Trace simulate(const Schedule& schedule, const Machine& machine, const Placement& placement,
               const RunSpec& spec) {
  return std::move(simulate({{schedule, placement, spec}}, machine).front());
}

}  // namespace dlnb
