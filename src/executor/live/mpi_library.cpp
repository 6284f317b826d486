// SPDX-License-Identifier: Apache-2.0
// MPI implementations have different ABIs, so each has a module.
#include "executor/live/mpi_library.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <dlnb/document.hpp>

#include "executor/live/first_rank.hpp"
#include "executor/live/gpu/device_buffers.hpp"
#include "executor/live/host_blocks.hpp"
#include "executor/live/programs.hpp"
#include "executor/live/surroundings.hpp"

namespace dlnb {
namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

/// Names of the environment's variables that are this program's.
std::vector<std::string> our_variables() {
  std::vector<std::string> names{std::string(launch_folder_variable)};
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view word = *entry;
    const std::string name(word.substr(0, word.find('=')));
    if (name.starts_with("DLNETBENCH_") && name != names[0]) names.push_back(name);
  }
  return names;
}

/// "h1:2,h2:1", which both launchers understand.
std::string hosts_and_slots(const LaunchRequest& request) {
  std::string text;
  const std::vector<std::int64_t> blocks = host_blocks(request.ranks, request.hosts.size());
  for (std::size_t host = 0; host < blocks.size(); ++host)
    text += fmt::format("{}{}:{}", host == 0 ? "" : ",", request.hosts[host], blocks[host]);
  return text;
}

std::string agent_program(const LaunchRequest& request) {
  const std::string program = program_in_path({request.agent});
  if (program.empty())
    throw UserError("--agent", fmt::format("there is no program {}", in_quotes(request.agent)),
                    "for example --agent ssh");
  return program;
}

/// The most ranks that one host is given.
std::int64_t ranks_on_a_host(const LaunchRequest& request) {
  return request.hosts.empty() ? request.ranks : host_blocks(request.ranks, request.hosts.size())[0];
}

std::string open_mpi_program() { return program_in_path({"mpirun.openmpi", "mpirun"}); }
std::string mpich_program() { return program_in_path({"mpiexec.mpich", "mpiexec.hydra", "mpiexec"}); }

Launcher open_mpi_launcher(const LaunchRequest& request) {
  const std::string program = open_mpi_program();
  if (program.empty())
    throw Unavailable("run", "the launcher of Open MPI (mpirun) is not in PATH", "apt install openmpi-bin");
  // Not bound: several runs on one host would be bound to the same cores.
  Launcher launcher{
      {program, "--quiet", "-n", std::to_string(request.ranks), "--oversubscribe", "--bind-to", "none"}, {}};
  if (!request.hosts.empty()) {
    // Every host is started from here: the hosts themselves may have no way to each other.
    for (const std::string& word :
         {std::string("-H"), hosts_and_slots(request), std::string("--mca"), std::string("plm"),
          std::string("rsh"), std::string("--mca"), std::string("plm_rsh_agent"), agent_program(request),
          std::string("--mca"), std::string("plm_rsh_no_tree_spawn"), std::string("1")})
      launcher.command.push_back(word);
    // Only its own variables are handed on by mpirun. The folder is told to it, not to us.
    for (const std::string& name : our_variables())
      launcher.command.insert(launcher.command.end(), {"-x", name});
  }
  // Elsewhere there may be other cores than here, but most clusters are of one kind.
  if (ranks_on_a_host(request) * (request.second_thread ? 2 : 1) > usable_cores())
    for (const char* word : {"--mca", "mpi_yield_when_idle", "1"}) launcher.command.emplace_back(word);
  if (geteuid() == 0)
    launcher.environment = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}};
  return launcher;
}

Launcher mpich_launcher(const LaunchRequest& request) {
  const std::string program = mpich_program();
  if (program.empty())
    throw Unavailable("run", "the launcher of MPICH (mpiexec) is not in PATH", "apt install mpich");
  Launcher launcher{{program, "-n", std::to_string(request.ranks)}, {}};
  if (!request.hosts.empty())
    launcher.command.insert(launcher.command.end(), {"-hosts", hosts_and_slots(request), "-launcher", "ssh",
                                                     "-launcher-exec", agent_program(request)});
  return launcher;
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

std::string_view how_to_take(const MpiLibrary& library, MemoryKind memory) {
  if (memory == MemoryKind::cuda)
    return &library == &open_mpi()
               ? "use an Open MPI that is configured --with-cuda (NVIDIA's HPC SDK and HPC-X have one), or "
                 "--buffers host, or --backend nccl"
               : "use an MPICH that is configured --with-cuda, with MPIR_CVAR_ENABLE_GPU not 0 (Cray's: "
                 "MPICH_GPU_SUPPORT_ENABLED=1), or --buffers host, or --backend nccl";
  return &library == &open_mpi()
             ? "use an Open MPI that is configured --with-rocm over a UCX configured --with-rocm, or "
               "--buffers "
               "host, or --backend rccl"
             : "use an MPICH that is configured --with-hip, with MPIR_CVAR_ENABLE_GPU not 0 (Cray's: "
               "MPICH_GPU_SUPPORT_ENABLED=1), or --buffers host, or --backend rccl";
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

std::string missing(const MpiLibrary& library) {
  std::string reason = missing(library.module);
  if (!reason.empty() || surroundings().inside) return reason;
  const bool is_open_mpi = &library == &open_mpi();
  if (!(is_open_mpi ? open_mpi_program() : mpich_program()).empty()) return {};
  return fmt::format("the launcher of {} ({}) is not in PATH: {}", library.module.title,
                     is_open_mpi ? "mpirun" : "mpiexec", library.module.how);
}

std::string device_memory_of_mpi(MemoryKind memory) {
  using Takes = MemoryAnswer::Takes;
  std::string text;
  for (const MpiLibrary& library : libraries) {
    std::string said = missing(library);
    if (said.empty() && !surroundings().inside)
      said = answer_of(library.module, [&](const Transport& alone) {
        const MemoryAnswer answer = alone.takes_memory_of(memory == MemoryKind::cuda ? "CUDA" : "HIP");
        return answer.takes == Takes::not_told
                   ? fmt::format("{} does not tell whether it takes it", alone.library())
                   : fmt::format("{} {} it ({} says so)", alone.library(),
                                 answer.takes == Takes::yes ? "takes" : "does not take", answer.asked);
      });
    text += fmt::format("{}mpi-{}: {}", text.empty() ? "" : "; ", library.name,
                        said.empty() ? "not asked inside a world" : said);
  }
  return text;
}

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
  if (options.buffers == MemoryKind::host) return open(library.module, module_options, body);

  // From Open MPI's documentation: non-blocking collectives take no memory of an accelerator, reductions never and
  // others only over UCX.
  const bool blocks = &library == &open_mpi();
  module_options.second_thread |= blocks;
  const gpu::Driver& driver =
      gpu::driver_of(options.buffers == MemoryKind::cuda ? gpu::Vendor::nvidia : gpu::Vendor::amd);
  std::unique_ptr<const gpu::Device> device;  // for longer than the library
  open(library.module, module_options, [&](Transport& transport) {
    gpu::DeviceBuffers on_device(transport, driver, device,
                                 {.how = how_to_take(library, options.buffers),
                                  .blocking_collectives_only = blocks,
                                  .patience = options.watchdog});
    body(on_device);
  });
}

}  // namespace dlnb
