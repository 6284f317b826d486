// SPDX-License-Identifier: Apache-2.0
// Communication libraries with a build-time interface live in modules of ours, loaded when a world is joined: one
// program serves machines with and without them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "executor/live/backend.hpp"
#include "executor/live/module.hpp"

namespace dlnb {

struct Module {
  std::string_view title;  ///< "Open MPI"
  std::string_view file;   ///< "dlnb_mpi_openmpi.so"
  std::string_view how;    ///< "apt install libopenmpi-dev openmpi-bin"
};

/// A library that a module looks for when it opens a world.
struct LateLibrary {
  const char* file = nullptr;  ///< "libfabric.so.1"
  std::string_view how;        ///< "apt install libfabric1"
};
/// Why the module cannot be used: it was not built, or with another version of the program, or a library that it wants
/// then or later cannot be loaded. Empty where it can; a rank of a world looks only whether it is there.
std::string missing(const Module& module, const LateLibrary& later = {});

/// Joins the world and runs `body` as this process' rank. Throws Unavailable where the module or the library
/// cannot be loaded or the world cannot be joined.
void open(const Module& module, const ModuleOptions& options, const std::function<void(Transport&)>& body);

/// What `ask` says of a world of one rank, which is joined in a process of its own; or why there is none.
std::string answer_of(const Module& module, const std::function<std::string(const Transport&)>& ask);

/// The world this process is in, for libraries that do not find it themselves. Throws Unavailable where it has no
/// store (store.hpp).
ModuleOptions options_of_this_world(const WorldOptions& options);

}  // namespace dlnb
