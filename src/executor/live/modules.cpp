// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include <dlnb/error.hpp>

#include "executor/live/first_rank.hpp"
#include "executor/live/surroundings.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

/// $DLNETBENCH_MODULES, beside the program in the build tree, or where it is installed.
fs::path file_of(const Module& module) {
  std::vector<fs::path> folders;
  if (const char* folder = std::getenv("DLNETBENCH_MODULES")) folders.emplace_back(folder);
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure).parent_path();
  for (const char* folder : {"lib/dlnetbench", "../lib/dlnetbench", DLNB_MODULE_FOLDER})
    folders.push_back(program / folder);
  for (const fs::path& folder : folders)
    if (const fs::path file = folder / module.file; fs::is_regular_file(file, failure)) return file;
  return {};
}

OpenTransport load(const Module& module) {
  const fs::path file = file_of(module);
  if (file.empty()) throw Unavailable("--backend", missing(module));
  // Global: Open MPI's own plug-ins look for its symbols in the program.
  void* const loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!loaded) {
    const char* const reason = dlerror();
    throw Unavailable("--backend", reason ? reason : fmt::format("{} cannot be loaded", file.string()),
                      fmt::format("{}, or rebuild", module.how));
  }
  const auto stamp = reinterpret_cast<ModuleStamp>(dlsym(loaded, module_stamp_symbol));
  const auto open = reinterpret_cast<OpenTransport>(dlsym(loaded, open_transport_symbol));
  if (stamp && open && std::string_view(stamp()) == interface_stamp) return open;
  throw Unavailable("--backend",
                    fmt::format("{} was built for another version of this program", file.string()),
                    "rebuild the modules together with the program, or install both again");
}

}  // namespace

std::string missing(const Module& module) {
  if (!file_of(module).empty()) return {};
  return fmt::format("the module for {} is not there ({}): {}, then configure and build again", module.title,
                     module.file, module.how);
}

std::string unloadable(const Module& module, const LateLibrary& later) {
  if (std::string reason = missing(module); !reason.empty()) return reason;
  const auto load = [](const char* file) {
    return dlopen(file, RTLD_LAZY | RTLD_LOCAL) ? nullptr : dlerror();
  };
  if (const char* reason = load(file_of(module).c_str())) return fmt::format("{}: {}", reason, module.how);
  if (const char* reason = load(later.file)) return fmt::format("{}: {}", reason, later.how);
  return {};
}

void open(const Module& module, const ModuleOptions& options, const std::function<void(Transport&)>& body) {
  const OpenTransport join = load(module);
  std::unique_ptr<Transport> transport;
  try {
    transport.reset(join(options));
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

ModuleOptions options_of_this_world(const WorldOptions& options) {
  const Surroundings around = surroundings();
  const std::string store = store_folder();
  if (around.inside && around.size > 1 && store.empty())
    throw Unavailable(
        "--backend",
        fmt::format("{} started these ranks, and nothing tells where they can find each other",
                    around.started_by),
        "set DLNETBENCH_STORE to an empty folder that all of them reach, for every run a new one");
  return {.second_thread = options.second_thread,
          .rank = around.rank,
          .size = around.inside && around.size > 0 ? around.size : 1,
          .store = store};
}

}  // namespace dlnb
