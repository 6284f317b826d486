// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "executor/live/modules.hpp"

namespace dlnb {

/// An MPI implementation that a module is built for.
struct MpiLibrary {
  std::string_view name;  ///< "openmpi", as in DLNETBENCH_MPI
  Module module;
  Launcher (*launcher)(const LaunchRequest& request);
};

/// Those of a library that takes them; what is there says when it is opened.
inline constexpr MemoryKind mpi_memories[] = {MemoryKind::host, MemoryKind::cuda, MemoryKind::hip};

const MpiLibrary& open_mpi();
const MpiLibrary& mpich();
/// The one this process' launcher belongs to; else what DLNETBENCH_MPI says; else the first that is built.
/// Throws UserError where DLNETBENCH_MPI names neither.
const MpiLibrary& automatic_mpi();

/// Why this library cannot be used; empty where it can.
std::string missing(const MpiLibrary& library);
/// What the MPI libraries that are built say of an accelerator's memory: "Open MPI takes it (… says so); …". Each is
/// initialised for it, in a process of its own.
std::string device_memory_of_mpi(MemoryKind memory);
/// Joins the world and runs `body` as this process' rank.
/// Throws Unavailable, and UserError where the world is another library's.
void open(const MpiLibrary& library, const WorldOptions& options,
          const std::function<void(Transport&)>& body);

}  // namespace dlnb
