// SPDX-License-Identifier: Apache-2.0
// MPI implementations have different ABIs, so each has a module; the one that fits is loaded when a world is
// joined.
#include "executor/live/mpi_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "executor/live/module.hpp"
#include "executor/live/surroundings.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

/// A full path, or empty.
std::string program_in_path(std::initializer_list<const char*> names) {
  const char* const path = std::getenv("PATH");
  for (const std::string name : names)
    for (std::string_view rest = path ? path : ""; !rest.empty();) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      const fs::path file = fs::path(rest.substr(0, colon)) / name;
      rest.remove_prefix(std::min(colon + 1, rest.size()));
      if (access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file)) return file.string();
    }
  return {};
}

Launcher open_mpi_launcher(std::int64_t ranks, bool second_thread) {
  const std::string program = program_in_path({"mpirun.openmpi", "mpirun"});
  if (program.empty())
    throw Unavailable("run", "the launcher of Open MPI (mpirun) is not in PATH", "apt install openmpi-bin");
  // Not bound: several runs on one host would be bound to the same cores.
  Launcher launcher{{program, "--quiet", "-n", std::to_string(ranks), "--oversubscribe", "--bind-to", "none"},
                    {}};
  if (ranks * (second_thread ? 2 : 1) > usable_cores())
    for (const char* word : {"--mca", "mpi_yield_when_idle", "1"}) launcher.command.emplace_back(word);
  if (geteuid() == 0)
    launcher.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  return launcher;
}

Launcher mpich_launcher(std::int64_t ranks, bool) {
  const std::string program = program_in_path({"mpiexec.mpich", "mpiexec.hydra", "mpiexec"});
  if (program.empty())
    throw Unavailable("run", "the launcher of MPICH (mpiexec) is not in PATH", "apt install mpich");
  return {{program, "-n", std::to_string(ranks)}, {}};
}

constexpr MpiLibrary libraries[] = {
    {"openmpi", "Open MPI", "dlnb_mpi_openmpi.so", "libopenmpi-dev openmpi-bin", open_mpi_launcher},
    {"mpich", "MPICH", "dlnb_mpi_mpich.so", "libmpich-dev mpich", mpich_launcher},
};

const MpiLibrary* library_called(std::string_view name) {
  const auto* const place = std::ranges::find(libraries, name, &MpiLibrary::name);
  return place == std::end(libraries) ? nullptr : place;
}

/// The module's file: $DLNETBENCH_MODULES, beside the program in the build tree, or where it is installed.
fs::path module_file(const MpiLibrary& library) {
  std::vector<fs::path> folders;
  if (const char* folder = std::getenv("DLNETBENCH_MODULES")) folders.emplace_back(folder);
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure).parent_path();
  for (const char* folder : {"lib/dlnetbench", "../lib/dlnetbench", DLNB_MODULE_FOLDER})
    folders.push_back(program / folder);
  for (const fs::path& folder : folders)
    if (const fs::path file = folder / library.module; fs::is_regular_file(file, failure)) return file;
  return {};
}

OpenTransport load(const MpiLibrary& library) {
  const fs::path file = module_file(library);
  if (file.empty()) throw Unavailable("--backend", missing(library));
  // Global: Open MPI's own plug-ins look for its symbols in the program.
  void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!module) {
    const char* const reason = dlerror();
    throw Unavailable("--backend", reason ? reason : fmt::format("{} cannot be loaded", file.string()),
                      fmt::format("apt install {}, or rebuild", library.packages));
  }
  const auto stamp = reinterpret_cast<ModuleStamp>(dlsym(module, module_stamp_symbol));
  const auto open = reinterpret_cast<OpenTransport>(dlsym(module, open_transport_symbol));
  if (stamp && open && std::string_view(stamp()) == interface_stamp) return open;
  throw Unavailable("--backend",
                    fmt::format("{} was built for another version of this program", file.string()),
                    "rebuild the modules together with the program, or install both again");
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
  if (const Surroundings around = surroundings(); around.inside) return *library_called(around.library);
  if (const char* const wish = std::getenv("DLNETBENCH_MPI")) {
    if (const MpiLibrary* library = library_called(wish)) return *library;
    throw UserError("DLNETBENCH_MPI", fmt::format("nothing is called '{}'", wish),
                    choose_one_of(wish, {"mpich", "openmpi"}));
  }
  const auto* const built =
      std::ranges::find_if(libraries, [](const auto& library) { return missing(library).empty(); });
  return built == std::end(libraries) ? libraries[0] : *built;
}

std::string missing(const MpiLibrary& library) {
  if (!module_file(library).empty()) return {};
  return fmt::format("the module for {} is not there ({}): apt install {}, then configure and build again",
                     library.title, library.module, library.packages);
}

void open(const MpiLibrary& library, const WorldOptions& options,
          const std::function<void(Transport&)>& body) {
  if (const Surroundings around = surroundings(); around.inside && around.library != library.name)
    throw UserError("--backend",
                    fmt::format("this world was not started by {}'s launcher ({} is set)", library.title,
                                around.started_by),
                    fmt::format("use --backend mpi-{}", around.library));
  const OpenTransport join = load(library);
  std::unique_ptr<Transport> transport;
  try {
    transport.reset(join({options.second_thread, largest_count()}));
  } catch (const std::runtime_error& error) {
    throw Unavailable("--backend", error.what());
  }
  try {
    body(*transport);
  } catch (const Error&) {
    throw;  // all ranks have agreed on it and leave the world together
  } catch (const std::exception& error) {
    transport->abort(int(Exit::lost_rank),
                     fmt::format("rank {} failed: {}", transport->rank(), error.what()));
    throw;
  }
}

}  // namespace dlnb
