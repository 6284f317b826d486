// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "executor/live/nccl/library.hpp"
#include "executor/live/nccl/world.hpp"
#include "executor/live/transport.hpp"

namespace dlnb::nccl {

/// A rank of a world over NCCL or RCCL, on this device of the driver. Throws std::runtime_error.
std::unique_ptr<Transport> make_transport(const Library& library, const gpu::Driver& driver, int device,
                                          const World& world);

}  // namespace dlnb::nccl
