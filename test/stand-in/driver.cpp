// SPDX-License-Identifier: Apache-2.0
// The driver's devices and which of them a thread has chosen.
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "stand-in/device.hpp"

using dlnb::gpu::Context;

struct dlnb::gpu::OpaqueContext {
  int device = 0;
};

namespace stand_in {
namespace {

struct State {
  std::mutex mutex;
  std::vector<dlnb::gpu::OpaqueContext> contexts = std::vector<dlnb::gpu::OpaqueContext>(64);
  int held = 0;
};
State& state() {
  static State* const only = new State;  // outlives every thread
  return *only;
}

thread_local Context current = nullptr;

int devices() {
  const char* const text = std::getenv("DLNB_STAND_IN_DEVICES");
  return text ? std::atoi(text) : 8;
}

struct Report {
  ~Report() {
    const std::lock_guard lock(state().mutex);
    record(fmt::format("left: contexts={}", state().held));
  }
} report;

}  // namespace

bool has_device() { return current != nullptr; }

int tick() {
  const char* const text = std::getenv("DLNB_STAND_IN_TICK");
  return text ? std::atoi(text) : 1;
}

std::string current_device() {
  return current ? fmt::format("0000:{:02X}:00.0", current->device + 1) : std::string();
}

}  // namespace stand_in

using namespace stand_in;

// For the stand-in of an MPI library. HIP's are nobody's to give back.
STAND_IN_EXPORT int stand_in_contexts() {
#ifdef STAND_IN_HIP
  return 1;
#else
  const std::lock_guard lock(state().mutex);
  return state().held;
#endif
}

STAND_IN_EXPORT Status STAND_IN_NAME(cuInit, hipInit)(unsigned) {
  return devices() > 0 ? Status::success : Status::no_device;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGetCount, hipGetDeviceCount)(int* count) {
  *count = devices();
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGet, hipDeviceGet)(int* device, int ordinal) {
  *device = ordinal;
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGetName, hipDeviceGetName)(char* name, int length, int) {
  std::strncpy(name, "stand-in", std::size_t(length));
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGetPCIBusId, hipDeviceGetPCIBusId)(char* address, int length,
                                                                                int device) {
  if (device < 0 || device >= devices()) return invalid_value;
  std::strncpy(address, fmt::format("0000:{:02X}:00.0", device + 1).c_str(), std::size_t(length));
  return Status::success;
}
STAND_IN_EXPORT Status STAND_IN_NAME(cuDeviceGetAttribute,
                                     hipDeviceGetAttribute)(int* value, dlnb::gpu::Attribute attribute, int) {
  using dlnb::gpu::Attribute;
#ifdef STAND_IN_HIP
  if (attribute == Attribute::wall_clock_kilohertz_of_hip) {
    *value = 1'000'000 / tick();
    return Status::success;
  }
#endif
  if (attribute != STAND_IN_NAME(Attribute::multiprocessors_of_cuda, Attribute::multiprocessors_of_hip))
    return invalid_value;
  *value = 10;
  return Status::success;
}

#ifdef STAND_IN_HIP
STAND_IN_EXPORT Status hipSetDevice(int device) {
  const std::lock_guard lock(state().mutex);
  current = &state().contexts[std::size_t(device)];
  current->device = device;
  return Status::success;
}
STAND_IN_EXPORT const char* hipGetErrorName(Status) { return "hipErrorOfStandIn"; }
STAND_IN_EXPORT const char* hipGetErrorString(Status) { return "an error of the stand-in"; }
#else
STAND_IN_EXPORT Status cuDevicePrimaryCtxRetain(Context* context, int device) {
  const std::lock_guard lock(state().mutex);
  ++state().held;
  state().contexts[std::size_t(device)].device = device;
  *context = &state().contexts[std::size_t(device)];
  return Status::success;
}
STAND_IN_EXPORT Status cuDevicePrimaryCtxRelease_v2(int) {
  const std::lock_guard lock(state().mutex);
  --state().held;
  return Status::success;
}
STAND_IN_EXPORT Status cuCtxSetCurrent(Context context) {
  current = context;
  return Status::success;
}
STAND_IN_EXPORT Status cuGetErrorName(Status status, const char** name) {
  *name = status == Status::no_device ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OF_STAND_IN";
  return Status::success;
}
STAND_IN_EXPORT Status cuGetErrorString(Status status, const char** text) {
  *text = status == Status::no_device ? "no CUDA-capable device is detected" : "an error of the stand-in";
  return Status::success;
}
#endif
