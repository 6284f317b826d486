// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <dlnb/units.hpp>

namespace dlnb::sim {

/// What this process may use: the host's memory or its control group's limit, whichever is less.
Bytes memory_of_this_host();

/// Asks for large pages behind memory that nobody has written to yet: fewer of them have to be found. Only a wish.
void prefer_large_pages(void* memory, std::size_t bytes);

}  // namespace dlnb::sim
