// SPDX-License-Identifier: Apache-2.0
// What the program and a module loaded at run time agree on. A module is built from this tree with the same
// compiler, so C++ may cross the border; both carry a stamp that tells whether that holds.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "executor/live/transport.hpp"

namespace dlnb {

struct ModuleOptions {
  bool second_thread = false;
  /// The world, for libraries that do not find it themselves: this rank, all ranks, and the folder of the store
  /// (store.hpp) through which the ranks tell each other their addresses.
  int rank = 0, size = 1;
  std::string store;
  std::string host;  ///< where the run was given hosts: this rank's; the others reach it by this name
  /// Largest count passed to a library whose counts are int; smaller ones let tests reach the way around it.
  std::int64_t largest_count = std::numeric_limits<int>::max();
};

/// Joins the world. Throws std::runtime_error. The caller deletes the transport, which leaves the world.
using OpenTransport = Transport* (*)(const ModuleOptions&);
inline constexpr char open_transport_symbol[] = "dlnb_open_transport";

/// A hash of the headers that describe the border and of the compiler (cmake/Modules.cmake).
extern const char* const interface_stamp;
/// A module's own stamp.
using ModuleStamp = const char* (*)();
inline constexpr char module_stamp_symbol[] = "dlnb_module_stamp";

}  // namespace dlnb
