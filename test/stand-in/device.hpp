// SPDX-License-Identifier: Apache-2.0
// What the parts of the driver's stand-in know of each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stand-in/stand_in.hpp"

namespace stand_in {

using dlnb::gpu::Status;
inline constexpr Status invalid_value{1}, invalid_context{201}, invalid_handle{400};

/// Whether this thread has chosen a device.
bool has_device();
/// Of the device's clock, in ns.
int tick();

/// Whether all of it is device memory.
bool is_memory(const Range& range);
bool is_pinned(const void* memory, std::size_t bytes);

/// Whatever is under way and would race with this: "fill on stream 3". On the same stream it would not.
std::vector<std::string> users_of(const Range& range, Stream stream = nullptr);
/// Waits for all that has been enqueued.
void finish(Stream stream);

}  // namespace stand_in
