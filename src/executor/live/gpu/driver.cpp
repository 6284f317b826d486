// SPDX-License-Identifier: Apache-2.0
#include "executor/live/gpu/driver.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "executor/live/shared_library.hpp"

namespace dlnb::gpu {
namespace {

/// How the driver names its function.
std::string_view name_in(Vendor vendor, const char* cuda, const char* hip) {
  return vendor == Vendor::nvidia ? cuda : hip;
}

/// What keeps us from using the library, or nothing.
std::string load(Vendor vendor, const SharedLibrary& library, Functions& call) {
  if (!library.loaded())
    return vendor == Vendor::nvidia ? fmt::format("NVIDIA's driver cannot be loaded ({})", library.problem())
                                    : fmt::format("the HIP runtime cannot be loaded ({})", library.problem());
  std::string problem;
  each_function(call, [&](const char* cuda, const char* hip, auto& function) {
    const std::string_view name = name_in(vendor, cuda, hip);
    if (!name.empty() && !library.find(name.data(), function) && problem.empty())
      problem = fmt::format("{} has no {}: it is too old", library.file(), name);
  });
  return problem;
}

std::string count_devices(Driver& driver) {
  const std::string_view count = driver.title == "CUDA" ? "cuDeviceGetCount" : "hipGetDeviceCount";
  const std::string_view init = driver.title == "CUDA" ? "cuInit" : "hipInit";
  if (const Status status = driver.call.init(0); status != Status::success)
    return fmt::format("{} returned {}", init, driver.text_of(status));
  if (const Status status = driver.call.device_count(&driver.devices); status != Status::success)
    return fmt::format("{} returned {}", count, driver.text_of(status));
  if (driver.devices == 0) return fmt::format("{} counts none", count);
  return {};
}

Driver make(Vendor vendor) {
  Driver driver;
  if (vendor == Vendor::nvidia) {
    // Streams share so many of the device's queues, 8 unless told otherwise. Two streams in one queue run one after the
    // other, which could close a circle of waiting ranks.
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    driver.title = "CUDA";
    static const SharedLibrary library({"libcuda.so.1"});
    driver.problem = load(vendor, library, driver.call);
  } else {
    setenv("GPU_MAX_HW_QUEUES", "32", 0);
    driver.title = "HIP";
    static const SharedLibrary library(
        {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"});
    driver.problem = load(vendor, library, driver.call);
  }
  if (driver.problem.empty()) driver.problem = count_devices(driver);
  return driver;
}

}  // namespace

std::string Driver::text_of(Status status) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (call.error_name) {
    call.error_name(status, &name);
    call.error_text(status, &text);
  } else if (call.hip_error_name) {
    name = call.hip_error_name(status);
    text = call.hip_error_text(status);
  }
  return fmt::format("{} ({}: {})", int(status), name ? name : "unknown", text ? text : "unknown");
}

void Driver::fail(Status status, std::string_view what) const {
  throw std::runtime_error(fmt::format("{}: {} returned {}", title, what, text_of(status)));
}

const Driver& driver_of(Vendor vendor) {
  if (vendor == Vendor::nvidia) {
    static const Driver nvidia = make(Vendor::nvidia);
    return nvidia;
  }
  static const Driver amd = make(Vendor::amd);
  return amd;
}

}  // namespace dlnb::gpu
