// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include "executor/live/gpu/functions.hpp"
#include "headers/agree.hpp"

using dlnb::gpu::Status;

static_assert(int(Status::success) == CUDA_SUCCESS);
static_assert(int(Status::out_of_memory) == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(int(Status::no_device) == CUDA_ERROR_NO_DEVICE);
static_assert(int(Status::not_ready) == CUDA_ERROR_NOT_READY);
static_assert(int(dlnb::gpu::Attribute::multiprocessors_of_cuda) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(dlnb::gpu::stream_non_blocking == CU_STREAM_NON_BLOCKING);
static_assert(dlnb::gpu::event_without_time == CU_EVENT_DISABLE_TIMING);

int main() {
  dlnb::gpu::Functions functions{};
  dlnb::test::Names names;
  each_function(functions, [&](const char* name, const char*, auto& function) { names.add(name, function); });
  DLNB_COMPARE(init, cuInit);
  DLNB_COMPARE(device_count, cuDeviceGetCount);
  DLNB_COMPARE(device_get, cuDeviceGet);
  DLNB_COMPARE(device_name, cuDeviceGetName);
  DLNB_COMPARE(device_address, cuDeviceGetPCIBusId);
  DLNB_COMPARE(device_attribute, cuDeviceGetAttribute);
  DLNB_COMPARE(memory_info, cuMemGetInfo);
  DLNB_COMPARE(allocate, cuMemAlloc);
  DLNB_COMPARE(release, cuMemFree);
  DLNB_COMPARE(allocate_host, cuMemHostAlloc);
  DLNB_COMPARE(release_host, cuMemFreeHost);
  DLNB_COMPARE(fill, cuMemsetD8Async);
  DLNB_COMPARE(to_device, cuMemcpyHtoDAsync);
  DLNB_COMPARE(to_host, cuMemcpyDtoHAsync);
  DLNB_COMPARE(stream_create, cuStreamCreate);
  DLNB_COMPARE(stream_destroy, cuStreamDestroy);
  DLNB_COMPARE(stream_synchronize, cuStreamSynchronize);
  DLNB_COMPARE(event_create, cuEventCreate);
  DLNB_COMPARE(event_destroy, cuEventDestroy);
  DLNB_COMPARE(event_record, cuEventRecord);
  DLNB_COMPARE(event_query, cuEventQuery);
  DLNB_COMPARE(module_load, cuModuleLoadData);
  DLNB_COMPARE(module_unload, cuModuleUnload);
  DLNB_COMPARE(module_kernel, cuModuleGetFunction);
  DLNB_COMPARE(launch, cuLaunchKernel);
  DLNB_COMPARE(context_retain, cuDevicePrimaryCtxRetain);
  DLNB_COMPARE(context_release, cuDevicePrimaryCtxRelease);
  DLNB_COMPARE(context_set, cuCtxSetCurrent);
  DLNB_COMPARE(error_name, cuGetErrorName);
  DLNB_COMPARE(error_text, cuGetErrorString);
  std::printf("CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
  return names.result();
}
