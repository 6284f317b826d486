// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/live/core_claims.hpp"
#include "executor/live/topology.hpp"

namespace dlnb {

/// Which cores a rank keeps to.
enum class BindingMode { automatic, none, core, numa, gpu };

const char* name_of(BindingMode mode);
/// Throws UserError.
BindingMode binding_mode(std::string_view word);

/// Where one rank sits.
struct Seat {
  Cpus cores;    ///< hardware threads its own thread runs on
  Cpus helpers;  ///< the same of threads that work for it
  int numa = -1;
  int memory = -1;  ///< NUMA node its buffers come from; −1: where they are touched first
  std::string gpu;  ///< address
};

/// A rank that wants a seat.
struct Guest {
  Cpus allowed;        ///< where it may run so far
  std::string device;  ///< PCI address of the accelerator its library works on; empty: none
};

/// Where the ranks of one host sit.
struct Seating {
  std::vector<Seat> seats;  ///< by rank of the host; empty: they stay as they are
  std::string said;         ///< what was done, or why nothing
  std::string refusal;      ///< why what was asked for explicitly cannot be
};

/// `threads` of each rank want a core at the same time. Takes what `core` and `automatic` give out from `claims`.
///   core       every rank a core of its own; refused where there are fewer free ones than ranks
///   numa       the ranks in blocks over the NUMA nodes, each on all cores of its node and with memory from there
///   gpu        the ranks on the cores nearest to their GPU, shared evenly; the i-th rank has the i-th GPU where the
///              library works on none
///   automatic  gpu where the library works on one, else core where all threads find a free core, else none; none
///              too where a launcher has bound the ranks already
/// Nobody gets a hardware thread that it was not allowed before.
Seating seat_ranks(const Topology& topology, BindingMode mode, const std::vector<Guest>& guests, int threads,
                   CoreClaims& claims);

}  // namespace dlnb
