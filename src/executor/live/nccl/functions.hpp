// SPDX-License-Identifier: Apache-2.0
// What is used of NCCL, declared here so that a build needs none of its packages; test/headers/ compares these
// declarations with the real ones. RCCL has the same interface.
#pragma once

#include <cstddef>

#include "executor/live/gpu/functions.hpp"

namespace dlnb::nccl {

enum class Result : int {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  internal_error = 3,
  invalid_argument = 4,
  invalid_usage = 5,
  remote_error = 6,
  in_progress = 7,
};
enum class Type : int { uint8 = 1, float16 = 6, float32 = 7, bfloat16 = 9, float8_e4m3 = 10 };
enum class Reduction : int { sum = 0 };
struct UniqueId {
  char bytes[128];
};
using Communicator = struct OpaqueCommunicator*;
using gpu::Stream;

/// The versions, as ncclGetVersion numbers them, from which things are there.
inline constexpr int first_with_float8 = 22400;

struct Functions {
  Result (*get_version)(int* version);
  Result (*get_unique_id)(UniqueId* id);
  Result (*init)(Communicator* communicator, int ranks, UniqueId id, int rank);
  Result (*destroy)(Communicator communicator);
  Result (*abort)(Communicator communicator);
  Result (*async_error)(Communicator communicator, Result* error);
  const char* (*error_text)(Result result);
  const char* (*last_error)(Communicator communicator);  ///< null before 2.13

  Result (*all_reduce)(const void* send, void* receive, std::size_t count, Type type, Reduction reduction,
                       Communicator communicator, Stream stream);
  Result (*reduce_scatter)(const void* send, void* receive, std::size_t received, Type type,
                           Reduction reduction, Communicator communicator, Stream stream);
  Result (*all_gather)(const void* send, void* receive, std::size_t sent, Type type,
                       Communicator communicator, Stream stream);
  Result (*broadcast)(const void* send, void* receive, std::size_t count, Type type, int root,
                      Communicator communicator, Stream stream);
  Result (*send)(const void* memory, std::size_t count, Type type, int peer, Communicator communicator,
                 Stream stream);
  Result (*receive)(void* memory, std::size_t count, Type type, int peer, Communicator communicator,
                    Stream stream);
  Result (*group_start)();
  Result (*group_end)();
};

/// Calls `visit(name in the library, function)` for all.
template <class Table, class Visit>
constexpr void each_function(Table& f, Visit visit) {
  visit("ncclGetVersion", f.get_version);
  visit("ncclGetUniqueId", f.get_unique_id);
  visit("ncclCommInitRank", f.init);
  visit("ncclCommDestroy", f.destroy);
  visit("ncclCommAbort", f.abort);
  visit("ncclCommGetAsyncError", f.async_error);
  visit("ncclGetErrorString", f.error_text);
  visit("ncclGetLastError", f.last_error);
  visit("ncclAllReduce", f.all_reduce);
  visit("ncclReduceScatter", f.reduce_scatter);
  visit("ncclAllGather", f.all_gather);
  visit("ncclBroadcast", f.broadcast);
  visit("ncclSend", f.send);
  visit("ncclRecv", f.receive);
  visit("ncclGroupStart", f.group_start);
  visit("ncclGroupEnd", f.group_end);
}

}  // namespace dlnb::nccl
