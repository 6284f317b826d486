// SPDX-License-Identifier: Apache-2.0
// MPI implementations have different ABIs, so each has a module.
#include "executor/live/mpi_library.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "executor/live/programs.hpp"
#include "executor/live/surroundings.hpp"

namespace dlnb {
namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

Launcher open_mpi_launcher(const LaunchRequest& request) {
  const std::string program = program_in_path({"mpirun.openmpi", "mpirun"});
  if (program.empty())
    throw Unavailable("run", "the launcher of Open MPI (mpirun) is not in PATH", "apt install openmpi-bin");
  // Not bound: several runs on one host would be bound to the same cores.
  Launcher launcher{
      {program, "--quiet", "-n", std::to_string(request.ranks), "--oversubscribe", "--bind-to", "none"}, {}};
  if (request.ranks * (request.second_thread ? 2 : 1) > usable_cores())
    for (const char* word : {"--mca", "mpi_yield_when_idle", "1"}) launcher.command.emplace_back(word);
  if (geteuid() == 0)
    launcher.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  return launcher;
}

Launcher mpich_launcher(const LaunchRequest& request) {
  const std::string program = program_in_path({"mpiexec.mpich", "mpiexec.hydra", "mpiexec"});
  if (program.empty())
    throw Unavailable("run", "the launcher of MPICH (mpiexec) is not in PATH", "apt install mpich");
  return {{program, "-n", std::to_string(request.ranks)}, {}};
}

constexpr MpiLibrary libraries[] = {
    {"openmpi",
     {"Open MPI", "dlnb_mpi_openmpi.so", "apt install libopenmpi-dev openmpi-bin"},
     open_mpi_launcher},
    {"mpich", {"MPICH", "dlnb_mpi_mpich.so", "apt install libmpich-dev mpich"}, mpich_launcher},
};

const MpiLibrary* library_called(std::string_view name) {
  const auto* const place = std::ranges::find(libraries, name, &MpiLibrary::name);
  return place == std::end(libraries) ? nullptr : place;
}

std::int64_t largest_count() {
  const char* const text = std::getenv("DLNETBENCH_MPI_LARGEST_COUNT");
  const std::int64_t count = text ? std::atoll(text) : 0;
  return count > 0 ? std::min(count, ModuleOptions{}.largest_count) : ModuleOptions{}.largest_count;
}

}  // namespace

const MpiLibrary& open_mpi() { return libraries[0]; }
const MpiLibrary& mpich() { return libraries[1]; }

const MpiLibrary& automatic_mpi() {
  if (const MpiLibrary* library = library_called(surroundings().library)) return *library;
  if (const char* const wish = std::getenv("DLNETBENCH_MPI")) {
    if (const MpiLibrary* library = library_called(wish)) return *library;
    throw UserError("DLNETBENCH_MPI", fmt::format("nothing is called '{}'", wish),
                    choose_one_of(wish, {"mpich", "openmpi"}));
  }
  const auto* const built =
      std::ranges::find_if(libraries, [](const auto& library) { return missing(library).empty(); });
  return built == std::end(libraries) ? libraries[0] : *built;
}

std::string missing(const MpiLibrary& library) { return missing(library.module); }

void open(const MpiLibrary& library, const WorldOptions& options,
          const std::function<void(Transport&)>& body) {
  if (const Surroundings around = surroundings(); around.inside && around.library != library.name)
    throw UserError(
        "--backend",
        fmt::format("this world was not started by {}'s launcher ({} is set)", library.module.title,
                    around.started_by),
        around.library.empty() ? std::string() : fmt::format("use --backend mpi-{}", around.library));
  ModuleOptions module_options{.second_thread = options.second_thread};
  module_options.largest_count = largest_count();
  open(library.module, module_options, body);
}

}  // namespace dlnb
