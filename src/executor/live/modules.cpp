// SPDX-License-Identifier: Apache-2.0
#include "executor/live/modules.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
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

/// A module in this process, or why it cannot be.
struct Loaded {
  OpenTransport open = nullptr;
  std::string problem, hint;
};

Loaded try_to_load(const Module& module, const fs::path& file, int flags) {
  void* const loaded = dlopen(file.c_str(), flags);
  if (!loaded) {
    const char* const reason = dlerror();
    return {nullptr, reason ? reason : fmt::format("{} cannot be loaded", file.string()),
            fmt::format("{}, or rebuild", module.how)};
  }
  const auto stamp = reinterpret_cast<ModuleStamp>(dlsym(loaded, module_stamp_symbol));
  const auto open = reinterpret_cast<OpenTransport>(dlsym(loaded, open_transport_symbol));
  if (stamp && open && std::string_view(stamp()) == interface_stamp) return {open, {}, {}};
  return {nullptr, fmt::format("{} was built for another version of this program", file.string()),
          "rebuild the modules together with the program, or install both again"};
}

OpenTransport load(const Module& module) {
  const fs::path file = file_of(module);
  if (file.empty()) throw Unavailable("--backend", missing(module));
  // Global: Open MPI's own plug-ins look for its symbols in the program.
  const Loaded loaded = try_to_load(module, file, RTLD_NOW | RTLD_GLOBAL);
  if (!loaded.open) throw Unavailable("--backend", loaded.problem, loaded.hint);
  return loaded.open;
}

/// What `look` says in a process of its own: libraries that are only looked at do not stay, do not meet each other,
/// and end nothing but that process where they crash.
std::string said_apart(const std::function<std::string()>& look) {
  constexpr int patience = 20'000;  // ms
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::strerror(errno);
  const pid_t child = fork();
  if (child == 0) {
    const std::string said = look();
    const auto written = write(ends[1], said.data(), said.size());
    _exit(written == ssize_t(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said = child < 0 ? std::strerror(errno) : "";
  pollfd news{.fd = ends[0], .events = POLLIN, .revents = 0};
  while (child > 0 && poll(&news, 1, patience) > 0) {
    char part[4096];
    const ssize_t size = read(ends[0], part, sizeof part);
    if (size <= 0) break;
    said.append(part, std::size_t(size));
  }
  close(ends[0]);
  if (child < 0) return said;
  kill(child, SIGKILL);  // of one that has ended by itself nothing is left to kill but its status
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status) && said.empty())
    return WTERMSIG(status) == SIGKILL
               ? "loading it does not end"
               : fmt::format("it crashes when loaded ({})", strsignal(WTERMSIG(status)));
  return said;
}

std::string with_hint(const std::string& problem, std::string_view hint) {
  return problem.empty() ? problem : fmt::format("{}: {}", problem, hint);
}

}  // namespace

std::string missing(const Module& module, const LateLibrary& later) {
  const fs::path file = file_of(module);
  if (file.empty())
    return fmt::format("the module for {} is not there ({}): {}, then configure and build again",
                       module.title, module.file, module.how);
  // A rank loads it in a moment, and says then what is wrong.
  if (surroundings().inside) return {};
  static std::map<std::string, std::string> known;  // by file
  const auto found = known.find(file.string());
  if (found != known.end()) return found->second;
  return known[file.string()] = said_apart([&] {
           const Loaded loaded = try_to_load(module, file, RTLD_LAZY | RTLD_LOCAL);
           if (!loaded.open) return with_hint(loaded.problem, loaded.hint);
           if (!later.file || dlopen(later.file, RTLD_LAZY | RTLD_LOCAL)) return std::string();
           return with_hint(dlerror(), later.how);
         });
}

std::string answer_of(const Module& module, const std::function<std::string(const Transport&)>& ask) {
  return said_apart([&]() -> std::string {
    try {
      const std::unique_ptr<const Transport> transport(load(module)(ModuleOptions{}));
      return ask(*transport);
    } catch (const std::exception& error) {
      return error.what();
    }
  });
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
  const char* const host = std::getenv(own_host_variable);
  return {.second_thread = options.second_thread,
          .rank = around.rank,
          .size = around.inside && around.size > 0 ? around.size : 1,
          .store = store,
          .host = host ? host : ""};
}

}  // namespace dlnb
