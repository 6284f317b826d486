// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "machine/machine.hpp"

namespace dlnb {

Placement place(const Machine& machine, std::int64_t ranks, const std::string& placement, std::int64_t seed,
                const std::string& where) {
  if (ranks < 1) throw UserError(where, fmt::format("a run has at least one rank, found {}", ranks));
  if (ranks > machine.devices())
    throw UserError(where,
                    fmt::format("{} ranks, but {} has {} devices ({} nodes × {})", ranks, machine.name,
                                machine.devices(), machine.nodes, machine.devices_per_node),
                    "one rank takes one device: ask for fewer ranks, or for a larger machine");
  return entry_called(placements::all(), placement, "--placement").place(machine, ranks, seed);
}

}  // namespace dlnb
