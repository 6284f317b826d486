// SPDX-License-Identifier: Apache-2.0
#include "cli/lists.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <dlnb/collective.hpp>
#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

#include "analysis/analysis.hpp"
#include "cli/command.hpp"
#include "config/config.hpp"
#include "executor/live/backend.hpp"
#include "executor/live/energy.hpp"
#include "executor/sim/network.hpp"
#include "executor/sim/noise.hpp"
#include "machine/machine.hpp"
#include "model/model.hpp"
#include "report/coll_report.hpp"
#include "report/report.hpp"
#include "schedule/order.hpp"
#include "schedule/pass.hpp"

namespace dlnb {
namespace {

template <class Entry>
Table names_and_summaries(Registry<Entry> all) {
  Table table{{"name", "summary"}, {}};
  for (const Entry* entry : all) table.rows.push_back({entry->name, entry->summary});
  return table;
}

Table models() {
  Table table{{"name", "layers", "parameters", "sample", "summary", "source"}, {}};
  for (const std::string& name : shipped_models()) {
    const Model model = load_model(name, "list models");
    int layers = 0;
    for (const Part& part : model.parts) layers = std::max(layers, part.layer + 1);
    table.rows.push_back({name, layers, model.parameters(), model.sample, model.summary, model.source});
  }
  return table;
}

Table devices() {
  Table table{{"name", "peak_tflops", "peak_type", "memory_tb_per_s", "memory_gb", "summary", "source"}, {}};
  for (const std::string& name : shipped_devices()) {
    const Device device = load_device(name, "list devices");
    table.rows.push_back({name, device.peak.value / 1e12, name_of(device.peak_type),
                          device.memory_bandwidth.value / 1e12, double(device.memory.value) / 1e9,
                          device.summary, device.source});
  }
  return table;
}

Table machines() {
  Table table{{"name", "device", "devices", "nodes", "topology", "summary", "source"}, {}};
  for (const std::string& name : shipped_machines()) {
    const Machine machine = load_machine(name, "list machines");
    table.rows.push_back({name, machine.device.name, machine.devices(), machine.nodes, machine.topology,
                          machine.summary, machine.source});
  }
  return table;
}

Table plans() {
  Table table{{"name", "summary", "source"}, {}};
  for (const NamedPlan& plan : shipped_plans()) table.rows.push_back({plan.name, plan.summary, plan.source});
  return table;
}

Table passes_table() {
  Table table{{"name", "degree", "summary"}, {}};
  for (const Pass* pass : passes::all()) table.rows.push_back({pass->name, pass->degree_name, pass->summary});
  return table;
}

Table backends_table() {
  Table table{{"name", "usable", "buffers", "summary", "reason"}, {}};
  for (const Backend* backend : backends::all()) {
    const std::string reason = backend->missing();
    std::string memories;
    for (const MemoryKind memory : backend->memories)
      memories += fmt::format("{}{}", memories.empty() ? "" : ", ", name_of(memory));
    table.rows.push_back(
        {backend->name, Cell::yes_or_no(reason.empty()), memories, backend->summary, reason});
  }
  return table;
}

Table energies_table() {
  Table table{{"name", "usable", "summary", "reason"}, {}};
  for (const EnergySource* source : energies::all()) {
    const std::string reason = source->open({.all_devices = true}).missing;
    table.rows.push_back({source->name, Cell::yes_or_no(reason.empty()), source->summary, reason});
  }
  return table;
}

Table noises_table() {
  Table table{{"name", "summary", "options"}, {}};
  for (const NoiseKind* kind : noises::all()) {
    std::string options;
    for (const OptionInfo& option : kind->options())
      options += fmt::format("{}{}{}: {}", options.empty() ? "" : "; ", option.name,
                             option.fallback.empty() ? "" : " = " + option.fallback, option.help);
    table.rows.push_back({kind->name, kind->summary, options});
  }
  return table;
}

Table metrics_table() {
  Table table{{"name", "unit", "definition"}, {}};
  for (const MetricKind* metric : metrics::all())
    table.rows.push_back({metric->name, metric->unit, metric->definition});
  return table;
}

Table commands_table() {
  Table table{{"name", "summary"}, {}};
  for (const Command* command : commands::all())
    if (!command->hidden) table.rows.push_back({command->name, command->summary});
  return table;
}

constexpr Listing all_listings[] = {
    {"models", "what is trained; more in data/models/*.toml, or any HuggingFace config.json", models},
    {"devices", "accelerators, dense peaks of one rank; more in data/devices/*.toml", devices},
    {"machines", "machines to simulate; more in data/machines/*.toml", machines},
    {"plans", "named parallel plans; more in data/plans/*.toml", plans},
    {"passes", "dimensions of parallelism that a plan is composed of; src/schedule/passes/", passes_table},
    {"orders", "orders of micro-batches in a pipeline; src/schedule/orders/",
     [] { return names_and_summaries(orders::all()); }},
    {"backends", "communication libraries of `run` and `coll`; src/executor/live/backends/", backends_table},
    {"energies", "counters of energy that a live run reads; src/executor/live/energies/", energies_table},
    {"topologies", "shapes of network; src/machine/topologies/",
     [] { return names_and_summaries(topologies::all()); }},
    {"placements", "ways to choose devices for ranks; src/machine/placements/",
     [] { return names_and_summaries(placements::all()); }},
    {"networks", "network models of `simulate`; src/executor/sim/networks/",
     [] { return names_and_summaries(networks::all()); }},
    {"noises", "what disturbs a simulated run; src/executor/sim/noises/", noises_table},
    {"collectives", "algorithms of collectives; src/schedule/collectives/",
     [] { return names_and_summaries(collectives::all()); }},
    {"metrics", "what is computed from a trace; src/analysis/metrics/", metrics_table},
    {"formats", "ways to write a result; src/report/formats/",
     [] { return names_and_summaries(formats::all()); }},
    {"coll-formats", "ways to write the table of `coll`; src/report/coll_formats/",
     [] { return names_and_summaries(coll_formats::all()); }},
    {"costs", "ways to turn layers into FLOPs, bytes and time; src/model/costs/",
     [] { return names_and_summaries(costs::all()); }},
    {"commands", "what dlnetbench can be told to do; src/cli/commands/", commands_table},
};

}  // namespace

std::span<const Listing> listings() { return all_listings; }

const Listing& listing_called(std::string_view name) {
  std::vector<std::string> names;
  for (const Listing& listing : listings()) {
    if (listing.name == name) return listing;
    names.emplace_back(listing.name);
  }
  throw UserError("list", fmt::format("nothing is called {}", in_quotes(name)), choose_one_of(name, names));
}

Table without(Table table, std::string_view column) {
  const auto found = std::ranges::find(table.columns, column);
  if (found == table.columns.end()) return table;
  const auto index = found - table.columns.begin();
  table.columns.erase(found);
  for (auto& row : table.rows) row.erase(row.begin() + index);
  return table;
}

}  // namespace dlnb
