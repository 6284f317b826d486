// SPDX-License-Identifier: Apache-2.0
#include "executor/live/nccl/library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "executor/live/shared_library.hpp"

namespace dlnb::nccl {
namespace {

struct Source {
  const char* title;
  const char* variable;  ///< names the library's file where the loader does not find it
  const char* file;
  const char* how;
};
constexpr Source sources[] = {
    {"NCCL", "DLNETBENCH_NCCL", "libnccl.so.2",
     "install libnccl2 from NVIDIA's repository, or pip install nvidia-nccl-cu13 and set "
     "DLNETBENCH_NCCL to its libnccl.so.2"},
    {"RCCL", "DLNETBENCH_RCCL", "librccl.so.1",
     "install rccl from AMD's repository, or set DLNETBENCH_RCCL to its librccl.so.1"},
};

/// 2.7.8 is 2708 and 2.9.6 is 20906.
std::string version_text(int version) {
  const int digits = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / digits, version % digits / 100, version % 100);
}

Library make(gpu::Vendor vendor) {
  const Source& source = sources[std::size_t(vendor)];
  Library made;
  made.title = source.title;
  made.vendor = vendor;
  const char* const told = std::getenv(source.variable);
  const SharedLibrary library({told ? told : source.file});
  if (!library.loaded()) {
    made.problem = fmt::format("{} is not there ({}): {}", source.title, library.problem(), source.how);
    return made;
  }
  std::string absent;
  each_function(made.call, [&](const char* name, auto& function) {
    const bool optional = std::string_view(name) == "ncclGetLastError";
    if (!library.find(name, function) && !optional && absent.empty()) absent = name;
  });
  if (made.call.get_version) made.call.get_version(&made.version);
  if (!absent.empty())
    made.problem = fmt::format("{} has no {}; NCCL 2.7 and later have it", library.file(), absent);
  return made;
}

}  // namespace

std::string Library::name() const { return fmt::format("{} {}", title, version_text(version)); }

void Library::fail(Result result, std::string_view what, Communicator communicator) const {
  const char* const said = call.last_error ? call.last_error(communicator) : nullptr;
  throw std::runtime_error(fmt::format("{}: {}: {}{}{}", name(), what, call.error_text(result),
                                       said && *said ? "; " : "", said ? said : ""));
}

const Library& library_of(gpu::Vendor vendor) {
  if (vendor == gpu::Vendor::nvidia) {
    static const Library nccl = make(gpu::Vendor::nvidia);
    return nccl;
  }
  static const Library rccl = make(gpu::Vendor::amd);
  return rccl;
}

std::string missing(gpu::Vendor vendor) {
  const Library& library = library_of(vendor);
  if (!library.problem.empty()) return library.problem;
  const gpu::Driver& driver = gpu::driver_of(vendor);
  if (driver.problem.empty()) return {};
  return fmt::format("{} is there, but no accelerator that it can use: {}", library.name(), driver.problem);
}

}  // namespace dlnb::nccl
