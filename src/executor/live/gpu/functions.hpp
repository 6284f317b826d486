// SPDX-License-Identifier: Apache-2.0
// What is used of an accelerator's driver, declared here so that a build needs none of its packages;
// test/headers/ compares these declarations with the real ones. CUDA's driver interface and HIP have these functions
// with the same parameters, the same numbers of errors and the same flags, so that one table serves both.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dlnb::gpu {

/// CUresult, hipError_t.
enum class Status : int { success = 0, out_of_memory = 2, no_device = 100, not_ready = 600 };
/// CUdevice_attribute, hipDeviceAttribute_t, which number them differently.
enum class Attribute : int {
  multiprocessors_of_cuda = 16,
  multiprocessors_of_hip = 63,
  wall_clock_kilohertz_of_hip = 10017,  ///< hipDeviceAttributeWallClockRate, which early versions of HIP lack
};
/// CUdeviceptr, hipDeviceptr_t: device memory as a number, because the host must not look there.
enum class Address : std::uintptr_t {};
using Context = struct OpaqueContext*;
using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;
using Module = struct OpaqueModule*;
using Kernel = struct OpaqueKernel*;

inline constexpr unsigned stream_non_blocking = 1;  ///< CU_STREAM_NON_BLOCKING, hipStreamNonBlocking
inline constexpr unsigned event_without_time = 2;   ///< CU_EVENT_DISABLE_TIMING, hipEventDisableTiming

struct Functions {
  Status (*init)(unsigned flags);
  Status (*device_count)(int* count);
  Status (*device_get)(int* device, int ordinal);
  Status (*device_name)(char* name, int length, int device);
  Status (*device_address)(char* address, int length, int device);
  Status (*device_attribute)(int* value, Attribute attribute, int device);
  Status (*memory_info)(std::size_t* free, std::size_t* total);

  Status (*allocate)(Address* memory, std::size_t bytes);
  Status (*release)(Address memory);
  Status (*allocate_host)(void** memory, std::size_t bytes, unsigned flags);
  Status (*release_host)(void* memory);
  Status (*fill)(Address memory, unsigned char value, std::size_t bytes, Stream stream);
  Status (*to_device)(Address memory, const void* host, std::size_t bytes, Stream stream);
  Status (*to_host)(void* host, Address memory, std::size_t bytes, Stream stream);

  Status (*stream_create)(Stream* stream, unsigned flags);
  Status (*stream_destroy)(Stream stream);
  Status (*stream_synchronize)(Stream stream);
  Status (*event_create)(Event* event, unsigned flags);
  Status (*event_destroy)(Event event);
  Status (*event_record)(Event event, Stream stream);
  Status (*event_query)(Event event);

  Status (*module_load)(Module* module, const void* image);
  Status (*module_unload)(Module module);
  Status (*module_kernel)(Kernel* kernel, Module module, const char* name);
  Status (*launch)(Kernel kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream,
                   void** parameters, void** extra);

  // CUDA only.
  Status (*context_retain)(Context* context, int device);
  Status (*context_release)(int device);
  Status (*context_set)(Context context);
  Status (*error_name)(Status status, const char** name);
  Status (*error_text)(Status status, const char** text);
  // HIP only.
  Status (*device_set)(int device);
  const char* (*hip_error_name)(Status status);
  const char* (*hip_error_text)(Status status);
};

/// Calls `visit(name in CUDA's driver, name in HIP, function)` for all; an empty name: the one has none such.
template <class Table, class Visit>
constexpr void each_function(Table& f, Visit visit) {
  visit("cuInit", "hipInit", f.init);
  visit("cuDeviceGetCount", "hipGetDeviceCount", f.device_count);
  visit("cuDeviceGet", "hipDeviceGet", f.device_get);
  visit("cuDeviceGetName", "hipDeviceGetName", f.device_name);
  visit("cuDeviceGetPCIBusId", "hipDeviceGetPCIBusId", f.device_address);
  visit("cuDeviceGetAttribute", "hipDeviceGetAttribute", f.device_attribute);
  visit("cuMemGetInfo_v2", "hipMemGetInfo", f.memory_info);
  visit("cuMemAlloc_v2", "hipMalloc", f.allocate);
  visit("cuMemFree_v2", "hipFree", f.release);
  visit("cuMemHostAlloc", "hipHostMalloc", f.allocate_host);
  visit("cuMemFreeHost", "hipHostFree", f.release_host);
  visit("cuMemsetD8Async", "hipMemsetD8Async", f.fill);
  visit("cuMemcpyHtoDAsync_v2", "hipMemcpyHtoDAsync", f.to_device);
  visit("cuMemcpyDtoHAsync_v2", "hipMemcpyDtoHAsync", f.to_host);
  visit("cuStreamCreate", "hipStreamCreateWithFlags", f.stream_create);
  visit("cuStreamDestroy_v2", "hipStreamDestroy", f.stream_destroy);
  visit("cuStreamSynchronize", "hipStreamSynchronize", f.stream_synchronize);
  visit("cuEventCreate", "hipEventCreateWithFlags", f.event_create);
  visit("cuEventDestroy_v2", "hipEventDestroy", f.event_destroy);
  visit("cuEventRecord", "hipEventRecord", f.event_record);
  visit("cuEventQuery", "hipEventQuery", f.event_query);
  visit("cuModuleLoadData", "hipModuleLoadData", f.module_load);
  visit("cuModuleUnload", "hipModuleUnload", f.module_unload);
  visit("cuModuleGetFunction", "hipModuleGetFunction", f.module_kernel);
  visit("cuLaunchKernel", "hipModuleLaunchKernel", f.launch);
  visit("cuDevicePrimaryCtxRetain", "", f.context_retain);
  visit("cuDevicePrimaryCtxRelease_v2", "", f.context_release);
  visit("cuCtxSetCurrent", "", f.context_set);
  visit("cuGetErrorName", "", f.error_name);
  visit("cuGetErrorString", "", f.error_text);
  visit("", "hipSetDevice", f.device_set);
  visit("", "hipGetErrorName", f.hip_error_name);
  visit("", "hipGetErrorString", f.hip_error_text);
}

}  // namespace dlnb::gpu
