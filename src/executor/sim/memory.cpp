// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace dlnb::sim {

Bytes memory_of_this_host() {
  std::int64_t memory = std::int64_t(sysconf(_SC_PHYS_PAGES)) * std::int64_t(sysconf(_SC_PAGE_SIZE));
  std::int64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0) memory = std::min(memory, limit);
  return {memory};
}

void prefer_large_pages(void* memory, std::size_t bytes) {
  const std::size_t page = std::size_t(sysconf(_SC_PAGE_SIZE));
  void* first = memory;
  if (std::align(page, 1, first, bytes) != nullptr) madvise(first, bytes, MADV_HUGEPAGE);
}

}  // namespace dlnb::sim
