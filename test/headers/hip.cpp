// SPDX-License-Identifier: Apache-2.0
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

#include "executor/live/gpu/functions.hpp"
#include "executor/live/gpu/hiprtc.hpp"
#include "headers/agree.hpp"

using dlnb::gpu::Status;

static_assert(int(Status::success) == hipSuccess);
static_assert(int(Status::out_of_memory) == hipErrorOutOfMemory);
static_assert(int(Status::no_device) == hipErrorNoDevice);
static_assert(int(Status::not_ready) == hipErrorNotReady);
static_assert(int(dlnb::gpu::Attribute::multiprocessors_of_hip) == hipDeviceAttributeMultiprocessorCount);
static_assert(int(dlnb::gpu::hiprtc::Result::success) == HIPRTC_SUCCESS);
static_assert(dlnb::gpu::stream_non_blocking == hipStreamNonBlocking);
static_assert(dlnb::gpu::event_without_time == hipEventDisableTiming);

namespace {

int compare_compiler() {
  dlnb::gpu::hiprtc::Functions functions{};
  dlnb::test::Names names;
  each_function(functions, [&](const char* name, auto& function) { names.add(name, function); });
  DLNB_COMPARE(create, hiprtcCreateProgram);
  DLNB_COMPARE(destroy, hiprtcDestroyProgram);
  DLNB_COMPARE(compile, hiprtcCompileProgram);
  DLNB_COMPARE(log_size, hiprtcGetProgramLogSize);
  DLNB_COMPARE(log, hiprtcGetProgramLog);
  DLNB_COMPARE(code_size, hiprtcGetCodeSize);
  DLNB_COMPARE(code, hiprtcGetCode);
  DLNB_COMPARE(error_text, hiprtcGetErrorString);
  return names.result();
}

}  // namespace

int main() {
  dlnb::gpu::Functions functions{};
  dlnb::test::Names names;
  each_function(functions, [&](const char*, const char* name, auto& function) { names.add(name, function); });
  DLNB_COMPARE(init, hipInit);
  DLNB_COMPARE(device_count, hipGetDeviceCount);
  DLNB_COMPARE(device_get, hipDeviceGet);
  DLNB_COMPARE(device_name, hipDeviceGetName);
  DLNB_COMPARE(device_address, hipDeviceGetPCIBusId);
  DLNB_COMPARE(device_attribute, hipDeviceGetAttribute);
  DLNB_COMPARE(memory_info, hipMemGetInfo);
  DLNB_COMPARE(allocate, hipMalloc);
  DLNB_COMPARE(release, hipFree);
  DLNB_COMPARE(allocate_host, hipHostMalloc);
  DLNB_COMPARE(release_host, hipHostFree);
  DLNB_COMPARE(fill, hipMemsetD8Async);
  DLNB_COMPARE(to_device, hipMemcpyHtoDAsync);
  DLNB_COMPARE(to_host, hipMemcpyDtoHAsync);
  DLNB_COMPARE(stream_create, hipStreamCreateWithFlags);
  DLNB_COMPARE(stream_destroy, hipStreamDestroy);
  DLNB_COMPARE(stream_synchronize, hipStreamSynchronize);
  DLNB_COMPARE(event_create, hipEventCreateWithFlags);
  DLNB_COMPARE(event_destroy, hipEventDestroy);
  DLNB_COMPARE(event_record, hipEventRecord);
  DLNB_COMPARE(event_query, hipEventQuery);
  DLNB_COMPARE(module_load, hipModuleLoadData);
  DLNB_COMPARE(module_unload, hipModuleUnload);
  DLNB_COMPARE(module_kernel, hipModuleGetFunction);
  DLNB_COMPARE(launch, hipModuleLaunchKernel);
  DLNB_COMPARE(device_set, hipSetDevice);
  DLNB_COMPARE(hip_error_name, hipGetErrorName);
  DLNB_COMPARE(hip_error_text, hipGetErrorString);
  std::printf("HIP %d.%d\n", HIP_VERSION_MAJOR, HIP_VERSION_MINOR);
  return names.result() + compare_compiler();
}
