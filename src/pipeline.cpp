// SPDX-License-Identifier: Apache-2.0
// The run on one page: the only file that knows every stage.
#include "pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <dlnb/collective.hpp>
#include <dlnb/error.hpp>

#include "analysis/analysis.hpp"
#include "calibration/calibration.hpp"
#include "config/config.hpp"
#include "core/provenance.hpp"
#include "executor/live/live.hpp"
#include "executor/sim/coll.hpp"
#include "executor/sim/sim.hpp"
#include "machine/machine.hpp"
#include "model/model.hpp"
#include "schedule/schedule.hpp"

namespace dlnb {
namespace {

/// Where a value was written: "jobs.toml:7 ranks", or the option that would set it.
std::string where_given(const Value& origin, const std::string& key) {
  const Value* const given = origin.find(key);
  return given && !given->where().empty() ? where_of(*given, key) : flag_of(key);
}

/// Stages call what is wrong by its option. Where a file has its value, the message is to name that.
template <class Work>
auto saying_where(const Value& origin, Work work) {
  try {
    return work();
  } catch (const UserError& error) {
    const std::string said = error.what();
    const std::size_t colon = said.find(": ");
    if (!said.starts_with("--") || colon == std::string::npos) throw;
    std::string key = said.substr(2, colon - 2);
    std::ranges::replace(key, '-', '_');
    if (!origin.find(key)) throw;
    throw UserError(where_given(origin, key), said.substr(colon + 2), error.hint());
  }
}

// Beyond this point the device is known: a run without one is timed as on an A100.
Device device_of(const RunSpec& spec) {
  return saying_where(spec.origin, [&] {
    if (!spec.device.empty()) return load_device(spec.device, "--device");
    if (!spec.machine.empty()) return load_machine(spec.machine, "--machine", spec.nodes).device;
    return load_device("a100", "--device");
  });
}

Schedule make_schedule(const RunSpec& spec, const Device& device) {
  return saying_where(spec.origin, [&] {
    const Model model = load_model(spec.model, "--model");
    const Step step = make_step(model, device, spec, microbatches_of(spec.plan));
    return scaled(compile(step, spec.plan, spec.ranks), spec.message_scale, spec.compute_scale);
  });
}

/// A run or a benchmark.
template <class Spec>
Machine machine_of(const Spec& spec) {
  return saying_where(spec.origin, [&] { return load_machine(spec.machine, "--machine", spec.nodes); });
}

template <class Spec>
PlacementRequest request_of(const Spec& spec) {
  return {spec.ranks, spec.placement, spec.devices, spec.seed,
          [&spec](const std::string& key) { return where_given(spec.origin, key); }};
}

/// Jobs side by side are on one machine, which one network simulates.
void check_common(const JobSpec& first, const JobSpec& other) {
  const auto check = [&](const char* key, const auto& a, const auto& b, const char* what) {
    if (a == b) return;
    const RunSpec& spec = (other.run.origin.find(key) ? other : first).run;
    throw UserError(
        where_given(spec.origin, key),
        fmt::format("jobs share one {}; '{}' has {} and '{}' {}", what, first.name, a, other.name, b),
        "give all of them the same");
  };
  check("machine", first.run.machine, other.run.machine, "machine");
  check("nodes", first.run.nodes, other.run.nodes, "number of nodes");
  check("network", first.run.network, other.run.network, "network");
}

Result describe(std::string kind, const RunSpec& spec, const Schedule& schedule, const Trace& trace,
                MachineSummary machine) {
  Result result;
  result.kind = std::move(kind);
  result.spec = spec;
  result.machine = std::move(machine);
  result.machine.ranks = schedule.grid.ranks();
  result.machine.device = schedule.device;
  result.label = schedule.plan + " · " + schedule.model + " · " + result.machine.name + " · " +
                 counted(schedule.grid.ranks(), "rank");
  result.grid = schedule.grid;
  result.global_batch = schedule.global_batch;
  result.sequence = schedule.sequence;
  result.executor = trace.executor;
  result.library = trace.library;
  result.ledger = ledger_of(schedule);
  result.metrics = analyse(trace, schedule);
  result.stopped_by = trace.stopped_by;
  result.clock_bound = double(trace.clock_bound_ns) * 1e-9;
  result.series = trace.series;
  result.lost = trace.lost;
  result.binding = trace.binding;
  result.energy = trace.energy;
  result.links = trace.links;
  result.valid = trace.valid;
  result.notes = schedule.notes;
  result.notes.insert(result.notes.end(), trace.notes.begin(), trace.notes.end());
  return result;
}

Result live_result(const RunSpec& spec, const Schedule& schedule, const Trace& trace) {
  Result result = describe("run", spec, schedule, trace, {.name = "this host"});
  result.provenance = provenance_of_this_host();
  return result;
}

OnPartial partial_trace(const RunSpec& spec, const Schedule& schedule, const OnPartialResult& on_partial) {
  if (!on_partial) return {};
  return
      [&spec, &schedule, on_partial](const Trace& trace) { on_partial(live_result(spec, schedule, trace)); };
}

std::vector<Member> members_on(const Machine& machine, const Placement& placement) {
  std::vector<Member> members;
  for (const int device : placement)
    members.push_back(
        {device, machine.node_of(device), machine.nics_per_node > 0 ? machine.nic_of(device) : 0});
  return members;
}

void refuse_lowered(const RunSpec& spec) {
  if (const Value* given = spec.origin.find("lower"))
    throw UserError(where_of(*given, "lower"), "the library of a live run does collectives itself",
                    "leave it out, or simulate");
}

OnPartialTable with_provenance(const OnPartialCollTable& on_partial) {
  if (!on_partial) return {};
  return [on_partial](CollTable table) {
    table.provenance = provenance_of_this_host();
    on_partial(table);
  };
}

/// Costs that a machine gives its library are of algorithms that there are; "message" is one of them to the library.
void check_algorithms(const Machine& machine, const std::string& named) {
  std::vector<std::string> known{"message"};
  for (const Collective* algorithm : collectives::all()) known.emplace_back(algorithm->tuning_name());
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  for (const TuningCost& cost : machine.software.costs)
    if (std::ranges::find(known, cost.algorithm) == known.end())
      throw UserError(named + " software.cost.algorithm",
                      fmt::format("nothing is called {}", in_quotes(cost.algorithm)),
                      choose_one_of(cost.algorithm, known));
}

/// A forced algorithm holds where it can do the operation; elsewhere the library's choice was simulated.
void say_where_it_cannot(const CollSpec& spec, std::vector<std::string>& notes) {
  const std::string name = spec.collective.substr(0, spec.collective.find('/'));
  const Collective& forced = entry_called(collectives::all(), name, "--collective");
  std::vector<std::string_view> others;
  std::size_t collective = 0;
  for (const CollOperation operation : spec.operations) {
    if (operation == CollOperation::send_recv || operation == CollOperation::barrier) continue;
    ++collective;
    if (!forced.handles(kind_of(operation))) others.emplace_back(name_of(operation));
  }
  if (others.size() == collective)
    throw UserError("--collective", fmt::format("{} does none of these operations", in_quotes(name)),
                    "leave it out, or ask for others");
  if (!others.empty())
    notes.push_back(fmt::format("{} does not do {}: there the library's choice was simulated", name,
                                fmt::join(others, ", ")));
}

Placement placement_of(const CollSpec& spec, const Machine& machine) {
  return place(machine, {request_of(spec)}).front();
}

}  // namespace

Schedule lowered(const Schedule& schedule, const RunSpec& spec, std::vector<Member> members) {
  if (spec.lower.empty()) return schedule;
  const std::string where = where_given(spec.origin, "lower");
  return lower(schedule, {&entry_called(collectives::all(), spec.lower, where), std::move(members), where});
}

Schedule make_schedule(const RunSpec& spec) { return make_schedule(spec, device_of(spec)); }

Result simulate(const RunSpec& spec) {
  return std::move(simulate(std::vector<JobSpec>{{.run = spec}}).front());
}

std::vector<Result> simulate(const std::vector<JobSpec>& jobs) {
  const Machine machine = machine_of(jobs.front().run);
  check_algorithms(machine, jobs.front().run.machine);
  std::vector<Schedule> schedules;
  std::vector<PlacementRequest> requests;
  for (const JobSpec& job : jobs) {
    check_common(jobs.front(), job);
    const RunSpec& spec = job.run;
    const Device device = spec.device.empty() ? machine.device : device_of(spec);
    schedules.push_back(make_schedule(spec, device));
    requests.push_back(request_of(spec));
  }
  const std::vector<Placement> placements = place(machine, requests);
  for (std::size_t j = 0; j < jobs.size(); ++j)
    if (!jobs[j].run.lower.empty())
      schedules[j] = lowered(schedules[j], jobs[j].run, members_on(machine, placements[j]));
  std::vector<SimulatedJob> together;
  for (std::size_t j = 0; j < jobs.size(); ++j)
    together.push_back({schedules[j], placements[j], jobs[j].run, jobs[j].start, jobs[j].repeat});
  const std::vector<Trace> traces = simulate(together, machine);

  std::vector<Result> results;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const RunSpec& spec = jobs[j].run;
    Result result = describe("simulate", spec, schedules[j], traces[j],
                             {.name = machine.name,
                              .topology = machine.topology,
                              .placement = spec.devices.empty() ? spec.placement : "devices " + spec.devices,
                              .source = machine.source,
                              .nodes = machine.nodes,
                              .devices_per_node = machine.devices_per_node});
    if (jobs.size() > 1) {
      const Trace alone = simulate(schedules[j], machine, placements[j], spec);
      result.job = jobs[j].name;
      for (const JobSpec& job : jobs) result.jobs.push_back(job.name);
      result.label = jobs[j].name + ": " + result.label;
      result.slowdown = slowdown(analyse(alone, schedules[j]).iterations, result.metrics.iterations);
    }
    result.provenance = provenance_of_program();
    results.push_back(std::move(result));
  }
  return results;
}

std::optional<Result> run(const RunSpec& spec, const OnPartialResult& on_partial) {
  refuse_lowered(spec);
  const Schedule schedule = make_schedule(spec);
  const std::optional<Trace> trace = run_live(schedule, spec, partial_trace(spec, schedule, on_partial));
  if (!trace) return std::nullopt;
  return live_result(spec, schedule, *trace);
}

int start_ranks(const RunSpec& spec, const std::vector<std::string>& command,
                const OnPartialResult& on_partial) {
  refuse_lowered(spec);
  const Schedule schedule =
      make_schedule(spec);  // whatever is wrong with it is said here, and not by every rank
  return launch(schedule, spec, command, partial_trace(spec, schedule, on_partial));
}

CollTable simulate(const CollSpec& spec) {
  Machine machine = machine_of(spec);
  check_algorithms(machine, spec.machine);
  if (!spec.collective.empty()) {
    machine.software.forced = spec.collective;
    machine.software.forced_where = "--collective";
  }
  CollTable table = simulate(spec, machine, placement_of(spec, machine));
  if (!spec.collective.empty()) say_where_it_cannot(spec, table.notes);
  table.provenance = provenance_of_program();
  return table;
}

Calibration calibrate(const std::string& structure, const std::vector<CollTable>& measured) {
  const Machine base = load_machine(structure, "--machine");
  return calibrate(measured, [&](const CollSpec& spec, const MeasuredCosts& costs) {
    Machine machine = base;
    machine.software.measured = costs;
    return simulate(spec, machine, placement_of(spec, machine));
  });
}

std::optional<CollTable> coll(const CollSpec& spec, const OnPartialCollTable& on_partial) {
  std::optional<CollTable> table = run_coll(spec, with_provenance(on_partial));
  if (table) table->provenance = provenance_of_this_host();
  return table;
}

int start_ranks(const CollSpec& spec, const std::vector<std::string>& command,
                const OnPartialCollTable& on_partial) {
  return launch(spec, command, with_provenance(on_partial));
}

}  // namespace dlnb
