// SPDX-License-Identifier: Apache-2.0
// What we use of NVIDIA's management library, which is loaded at run time and has no place in the build. A test compares
// these declarations with the real nvml.h.
#pragma once

struct nvmlDevice_st;

namespace dlnb::nvml {

using Device = nvmlDevice_st*;
using Return = int;  ///< an enumeration there
inline constexpr Return success = 0;
inline constexpr Return not_supported = 3;

using Init = Return();                                               ///< nvmlInit_v2
using Shutdown = Return();                                           ///< nvmlShutdown
using ErrorString = const char*(Return);                             ///< nvmlErrorString
using DeviceGetCount = Return(unsigned* count);                      ///< nvmlDeviceGetCount_v2
using DeviceGetHandleByIndex = Return(unsigned index, Device*);      ///< nvmlDeviceGetHandleByIndex_v2
using DeviceGetHandleByPciBusId = Return(const char* bus, Device*);  ///< nvmlDeviceGetHandleByPciBusId_v2
using DeviceGetTotalEnergyConsumption = Return(Device, unsigned long long* millijoules);
using DeviceGetPowerUsage = Return(Device, unsigned* milliwatts);

}  // namespace dlnb::nvml
