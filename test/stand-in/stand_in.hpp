// SPDX-License-Identifier: Apache-2.0
// A stand-in for an accelerator's driver and its communication library, for machines without either. Ranks are
// processes; data really moves between them. It is stricter than the real ones: what would hang, crash or go wrong
// unseen there is written down as a violation here.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "executor/live/gpu/functions.hpp"

#define STAND_IN_EXPORT extern "C" __attribute__((visibility("default")))
#ifdef STAND_IN_HIP
#define STAND_IN_NAME(cuda, hip) hip
#else
#define STAND_IN_NAME(cuda, hip) cuda
#endif

namespace stand_in {

using Address = std::uintptr_t;
using dlnb::gpu::Stream;

/// One line of this rank's record, $DLNB_STAND_IN_RECORD/<rank>.txt.
void record(const std::string& line);
void violation(const std::string& what);
/// As a launcher tells it; −1 where none does.
int own_rank();
/// "3:20" in a variable: on rank 3 the 20th launch. −1 on other ranks.
int launch_named_by(const char* variable);

/// Device memory from `begin` on. Its addresses cannot be looked at; the data is in a file that other processes map.
struct Range {
  Address begin = 0;
  std::size_t bytes = 0;
  bool written = false;
};
/// Where other processes find it.
struct Place {
  int process = 0, file = 0;
  std::uint64_t block = 0, offset = 0;  ///< a file's number is used again, a block's is not
};
std::byte* data_of(Address begin, std::size_t bytes);
Place place_of(Address begin, std::size_t bytes);
/// The same seen from another process: mapped when first asked for.
const std::byte* data_at(const Place& place, std::size_t bytes);

/// What a stream does next.
struct Work {
  std::string name;
  std::function<void()> run;
  std::vector<Range> ranges;
};
/// Returns the number that the stream counts to when it is done.
std::uint64_t enqueue(Stream stream, Work work);
bool is_stream(Stream stream);
int number_of(Stream stream);
/// The PCI address of the device in use by this thread; empty where it has chosen none.
std::string current_device();

}  // namespace stand_in
