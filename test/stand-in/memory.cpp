// SPDX-License-Identifier: Apache-2.0
// The driver's memory. Addresses of a device cannot be looked at; the data is in a file that other processes map.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

#include "stand-in/device.hpp"

namespace stand_in {
namespace {

struct Block {
  std::size_t bytes;
  int file;
  std::byte* data;
  std::uint64_t number;
};

struct State {
  std::mutex mutex;
  std::map<Address, Block> blocks;
  std::map<void*, std::size_t> pinned;
  std::uint64_t blocks_made = 0;
};
State& state() {
  static State* const only = new State;  // outlives every thread
  return *only;
}

std::map<Address, Block>::iterator block_with(Address begin, std::size_t bytes) {
  auto place = state().blocks.upper_bound(begin);
  if (place == state().blocks.begin()) return state().blocks.end();
  --place;
  return begin + bytes <= place->first + place->second.bytes ? place : state().blocks.end();
}

struct Report {
  ~Report() {
    const std::lock_guard lock(state().mutex);
    record(fmt::format("left: blocks={} pinned={}", state().blocks.size(), state().pinned.size()));
  }
} report;

}  // namespace

bool is_memory(const Range& range) {
  const std::lock_guard lock(state().mutex);
  return block_with(range.begin, range.bytes) != state().blocks.end();
}

bool is_pinned(const void* memory, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  auto place = state().pinned.upper_bound(const_cast<void*>(memory));
  if (place == state().pinned.begin()) return false;
  --place;
  return static_cast<const std::byte*>(memory) + bytes <=
         static_cast<std::byte*>(place->first) + place->second;
}

std::byte* data_of(Address begin, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  const auto block = block_with(begin, bytes);
  if (block == state().blocks.end()) return nullptr;
  return block->second.data + (begin - block->first);
}

Place place_of(Address begin, std::size_t bytes) {
  const std::lock_guard lock(state().mutex);
  const auto block = block_with(begin, bytes);
  if (block == state().blocks.end()) return {};
  return {getpid(), block->second.file, block->second.number, begin - block->first};
}

const std::byte* data_at(const Place& place, std::size_t bytes) {
  thread_local std::map<std::pair<int, std::uint64_t>, const std::byte*> mapped;  // process, block
  if (bytes == 0) return nullptr;
  const std::byte*& block = mapped[{place.process, place.block}];
  if (!block) {
    const int file =
        open(fmt::format("/proc/{}/fd/{}", place.process, place.file).c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    void* const memory = file < 0 || fstat(file, &status) != 0
                             ? MAP_FAILED
                             : mmap(nullptr, std::size_t(status.st_size), PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (memory == MAP_FAILED) {
      violation("another process' memory cannot be seen");
      std::abort();
    }
    block = static_cast<const std::byte*>(memory);
  }
  return block + place.offset;
}

}  // namespace stand_in

using namespace stand_in;

// For the stand-in of an MPI library. The host's view of device memory, or nothing where it is none.
STAND_IN_EXPORT void* stand_in_data(const void* address, std::size_t bytes, int written, const char* who) {
  const Range range{reinterpret_cast<Address>(address), bytes, written != 0};
  if (!is_memory({range.begin})) return nullptr;
  if (!is_memory(range)) violation(fmt::format("{} touches {} bytes, more than there are", who, bytes));
  for (const std::string& user : users_of(range))
    violation(fmt::format("{} shares memory with {}", who, user));
  if (!has_device()) violation(fmt::format("{} in a thread that has chosen no device", who));
  return data_of(range.begin, 0);
}

STAND_IN_EXPORT Status STAND_IN_NAME(cuMemGetInfo_v2, hipMemGetInfo)(std::size_t* free, std::size_t* total) {
  const char* const text = std::getenv("DLNB_STAND_IN_MEMORY");
  *total = text ? std::size_t(std::atoll(text)) : std::size_t{1} << 33;
  const std::lock_guard lock(state().mutex);
  *free = *total;
  for (const auto& [begin, block] : state().blocks) *free -= std::min(*free, block.bytes);
  return has_device() ? Status::success : invalid_context;
}

STAND_IN_EXPORT Status STAND_IN_NAME(cuMemAlloc_v2, hipMalloc)(dlnb::gpu::Address* out, std::size_t bytes) {
  if (!has_device()) return invalid_context;
  if (bytes == 0) return invalid_value;
  std::size_t free = 0, total = 0;
  STAND_IN_NAME(cuMemGetInfo_v2, hipMemGetInfo)(&free, &total);
  if (bytes > free) return Status::out_of_memory;
  const int file = memfd_create("stand-in", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, off_t(bytes)) != 0) return Status::out_of_memory;
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void* const addresses = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED || addresses == MAP_FAILED) return Status::out_of_memory;
  std::memset(data, 0x5a, bytes);
  const Address memory = reinterpret_cast<Address>(addresses);
  *out = dlnb::gpu::Address(memory);
  const std::lock_guard lock(state().mutex);
  state().blocks[memory] = {bytes, file, static_cast<std::byte*>(data), ++state().blocks_made};
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuMemFree_v2, hipFree)(dlnb::gpu::Address device) {
  const Address memory{std::uintptr_t(device)};
  if (!has_device()) return invalid_context;
  const std::lock_guard lock(state().mutex);
  const auto block = state().blocks.find(memory);
  if (block == state().blocks.end()) {
    violation("memory is freed that is not there");
    return invalid_value;
  }
  for (const std::string& user : users_of({memory, block->second.bytes, true}))
    violation("memory is freed that is used by " + user);
  munmap(block->second.data, block->second.bytes);
  munmap(reinterpret_cast<void*>(memory), block->second.bytes);
  close(block->second.file);
  state().blocks.erase(block);
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuMemHostAlloc, hipHostMalloc)(void** memory, std::size_t bytes,
                                                                    unsigned) {
  if (!has_device()) return invalid_context;
  *memory = std::malloc(bytes);
  const std::lock_guard lock(state().mutex);
  state().pinned[*memory] = bytes;
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuMemFreeHost, hipHostFree)(void* memory) {
  const std::lock_guard lock(state().mutex);
  if (state().pinned.erase(memory) == 0) violation("pinned memory is freed that is not there");
  std::free(memory);
  return Status::success;
}
