// SPDX-License-Identifier: Apache-2.0
// No prototype of ours needs the types of these headers, which want more packages.
#define __CUDA_FP16_H__
#define __CUDA_BF16_H__
#define __CUDA_FP8_H__
#include <nccl.h>

#include "executor/live/nccl/functions.hpp"
#include "headers/agree.hpp"

using dlnb::nccl::Reduction;
using dlnb::nccl::Result;
using dlnb::nccl::Type;

static_assert(int(Result::success) == ncclSuccess);
static_assert(int(Result::unhandled_cuda_error) == ncclUnhandledCudaError);
static_assert(int(Result::system_error) == ncclSystemError);
static_assert(int(Result::internal_error) == ncclInternalError);
static_assert(int(Result::invalid_argument) == ncclInvalidArgument);
static_assert(int(Result::invalid_usage) == ncclInvalidUsage);
static_assert(int(Result::remote_error) == ncclRemoteError);
static_assert(int(Result::in_progress) == ncclInProgress);
static_assert(int(Type::uint8) == ncclUint8);
static_assert(int(Type::float16) == ncclFloat16);
static_assert(int(Type::float32) == ncclFloat32);
static_assert(int(Type::bfloat16) == ncclBfloat16);
static_assert(int(Type::float8_e4m3) == ncclFloat8e4m3);
static_assert(int(Reduction::sum) == ncclSum);
static_assert(sizeof(dlnb::nccl::UniqueId) == NCCL_UNIQUE_ID_BYTES);
static_assert(dlnb::nccl::first_with_float8 == NCCL_VERSION(2, 24, 0));

int main() {
  dlnb::nccl::Functions functions{};
  dlnb::test::Names names;
  each_function(functions, [&](const char* name, auto& function) { names.add(name, function); });
  DLNB_COMPARE(get_version, ncclGetVersion);
  DLNB_COMPARE(get_unique_id, ncclGetUniqueId);
  DLNB_COMPARE(init, ncclCommInitRank);
  DLNB_COMPARE(destroy, ncclCommDestroy);
  DLNB_COMPARE(abort, ncclCommAbort);
  DLNB_COMPARE(async_error, ncclCommGetAsyncError);
  DLNB_COMPARE(error_text, ncclGetErrorString);
  DLNB_COMPARE(last_error, ncclGetLastError);
  DLNB_COMPARE(all_reduce, ncclAllReduce);
  DLNB_COMPARE(reduce_scatter, ncclReduceScatter);
  DLNB_COMPARE(all_gather, ncclAllGather);
  DLNB_COMPARE(broadcast, ncclBroadcast);
  DLNB_COMPARE(send, ncclSend);
  DLNB_COMPARE(receive, ncclRecv);
  DLNB_COMPARE(group_start, ncclGroupStart);
  DLNB_COMPARE(group_end, ncclGroupEnd);
  std::printf("NCCL %d.%d.%d\n", NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH);
  return names.result();
}
