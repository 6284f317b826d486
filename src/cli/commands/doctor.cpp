// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>

#include <dlnb/error.hpp>
#include <dlnb/units.hpp>

#include "cli/command.hpp"
#include "cli/host.hpp"
#include "cli/output.hpp"
#include "cli/table.hpp"
#include "core/data.hpp"
#include "core/provenance.hpp"
#include "executor/live/backend.hpp"
#include "executor/live/core_claims.hpp"
#include "executor/live/energy.hpp"
#include "executor/live/live.hpp"
#include "executor/live/mpi_library.hpp"
#include "executor/live/topology.hpp"
#include "report/web_page.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  return {{.name = "--format",
           .value = "FORMAT",
           .help = "how to print",
           .fallback = "text",
           .choices = {"text", "json", "markdown"}}};
}

std::string joined_or(const std::vector<std::string>& found, const char* otherwise) {
  return found.empty() ? otherwise : fmt::format("{}", fmt::join(found, ", "));
}

std::string memory_text(std::int64_t bytes) { return bytes < 0 ? "unknown" : to_text(Bytes{bytes}); }

void add_data(Table& table) {
  try {
    std::string text = data_folder().string();
    std::string counts;
    for (const char* kind : {"models", "devices", "machines", "plans"})
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", data_names(kind).size(), kind);
    table.rows.push_back({"data folder", "ok", text + ": " + counts});
  } catch (const Error& error) {
    table.rows.push_back({"data folder", "missing", std::string(error.what()) + "; " + error.hint()});
  }
}

void add_topology(Table& table) {
  try {
    const Topology topology = topology_of_this_host();
    const std::size_t taken = CoreClaims().taken(topology.cores);
    std::string text = to_text(topology);
    for (const Gpu& gpu : topology.gpus)
      text += fmt::format("; {} near hardware threads {}", gpu.address, list_text(gpu.near));
    if (taken > 0)
      text += fmt::format("; runs that are under way have bound ranks to {} of the cores", taken);
    table.rows.push_back({"topology", "ok", text});
  } catch (const Error& error) {
    table.rows.push_back({"topology", "unknown", error.what()});
  }
}

void add_energies(Table& table) {
  for (const EnergySource* source : energies::all()) {
    const EnergySource::Opened opened = source->open({.all_devices = true});
    table.rows.push_back({fmt::format("energy {}", source->name), opened.counters ? "ok" : "no",
                          opened.counters ? opened.counters->method() : opened.missing});
  }
}

void add_timer(Table& table) {
  const TimerQuality timer = measure_timer();
  const auto text = [](double seconds) { return to_text(Seconds{seconds}); };
  table.rows.push_back({"clock", "ok",
                        fmt::format("monotonic, steps of {}, a reading takes {}", text(timer.resolution),
                                    text(timer.reading))});
  // Emulated compute sleeps to shortly before its deadline and spins the rest: it needs a sleep that comes
  // back.
  const bool good = timer.worst_overshoot < 1e-3;
  table.rows.push_back({"sleep", good ? "ok" : "poor",
                        fmt::format("a sleep of 200 us ends {} late, one in twenty more than {}{}",
                                    text(timer.sleep_overshoot), text(timer.worst_overshoot),
                                    good ? "" : "; this host is busy, live times will be rough")});
}

void add_libraries(Table& table) {
  std::vector<std::string> libraries;
  for (const char* prefix : {"libmpi.so.", "libmpich.so."})
    for (const std::string& file : libraries_found(prefix)) libraries.push_back(file);
  table.rows.push_back(
      {"MPI libraries", libraries.empty() ? "missing" : "ok", joined_or(libraries, "none found")});
  const std::vector<std::string> launchers = programs_found(
      {"mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra", "srun"});
  table.rows.push_back(
      {"launchers", launchers.empty() ? "missing" : "ok", joined_or(launchers, "none in PATH")});
  const std::string accelerators = accelerators_found();
  table.rows.push_back(
      {"accelerators", accelerators.empty() ? "none" : "ok",
       accelerators.empty() ? "no device files; compute is emulated, which needs none" : accelerators});
}

void add_buffers(Table& table) {
  for (const MemoryKind memory : {MemoryKind::cuda, MemoryKind::hip}) {
    std::string text = missing(memory);
    const bool there = text.empty();
    if (there) text = device_memory_of_mpi(memory);
    table.rows.push_back({fmt::format("buffers {}", name_of(memory)), there ? "ok" : "no", text});
  }
}

void add_page(Table& table) {
  try {
    table.rows.push_back({"report page", "ok",
                          fmt::format("inside the program, {}; needs no network, npm or server",
                                      to_text(Bytes{std::int64_t(web_page().size())}))});
  } catch (const Error& error) {
    table.rows.push_back({"report page", "missing", std::string(error.what()) + "; " + error.hint()});
  }
}

int run(const Arguments& given) {
  const Provenance program = provenance_of_program();
  Table table{{"subject", "state", "detail"}, {}};
  table.rows.push_back(
      {"program", "ok", fmt::format("dlnetbench {}, {}", program.version, program.compiler)});
  add_data(table);
  table.rows.push_back({"cores", "ok", fmt::format("{} for this process", usable_cores())});
  add_topology(table);
  table.rows.push_back(
      {"memory", "ok",
       fmt::format("{} available of {}", memory_text(available_memory()), memory_text(total_memory()))});
  add_timer(table);
  add_libraries(table);
  for (const Backend* backend : backends::all()) {
    const std::string reason = backend->missing();
    table.rows.push_back({fmt::format("backend {}", backend->name), reason.empty() ? "ok" : "no",
                          reason.empty() ? std::string(backend->summary) : reason});
  }
  add_buffers(table);
  add_energies(table);
  if (inside_a_world()) table.rows.push_back({"world", "ok", "this process is a rank of a launcher's world"});
  table.rows.push_back({"simulator", "ok", "inside the program"});
  add_page(table);
  print(to_format(table, given.text("--format", "text")));
  return int(Exit::success);
}

}  // namespace

extern constinit const Command doctor{
    .name = "doctor",
    .summary = "what this host can do, and what keeps it from the rest",
    .examples =
        "doctor\n"
        "doctor --format json",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
