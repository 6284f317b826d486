// SPDX-License-Identifier: Apache-2.0
#include "executor/live/buffers.hpp"

#include <cstring>
#include <new>

namespace dlnb {

Buffers::Memory Buffers::allocate(std::int64_t bytes) {
  constexpr std::size_t page = 4096;
  // Never of size 0: libraries want an address also for empty messages.
  const std::size_t size = (std::size_t(bytes) / page + 1) * page;
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(page, size)));
  if (!memory) throw std::bad_alloc();
  std::memset(memory.get(), 0, size);
  return memory;
}

Buffers::Buffers(const std::vector<Lane>& lanes) {
  for (const Lane& lane : lanes) {
    send_.push_back(allocate(lane.send_bytes));
    receive_.push_back(allocate(lane.receive_bytes));
  }
}

}  // namespace dlnb
