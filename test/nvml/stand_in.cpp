// SPDX-License-Identifier: Apache-2.0
// A stand-in for libnvidia-ml: two devices whose counters a test sets.
#include "stand_in.hpp"

#include <cstring>

#define EXPORTED extern "C" __attribute__((visibility("default")))

struct nvmlDevice_st {
  const char* address;
  unsigned long long millijoules;
  unsigned milliwatts;
};

namespace {

using namespace dlnb::nvml;

constexpr Return not_found = 6, driver_not_loaded = 9;
constexpr unsigned devices = 2;
nvmlDevice_st device[devices] = {{"0000:3b:00.0", 0, 0}, {"0000:86:00.0", 0, 0}};
bool is_there = true, counts = true;
int users = 0;

}  // namespace

EXPORTED StandInSet stand_in_set;
void stand_in_set(unsigned index, unsigned long long millijoules, unsigned milliwatts) {
  device[index].millijoules = millijoules;
  device[index].milliwatts = milliwatts;
}
EXPORTED StandInBe stand_in_be;
void stand_in_be(bool there, bool counting) { is_there = there, counts = counting; }
EXPORTED StandInUsers stand_in_users;
int stand_in_users() { return users; }

EXPORTED Init nvmlInit_v2;
Return nvmlInit_v2() { return is_there ? (++users, success) : driver_not_loaded; }
EXPORTED Shutdown nvmlShutdown;
Return nvmlShutdown() { return --users, success; }
EXPORTED ErrorString nvmlErrorString;
const char* nvmlErrorString(Return code) {
  return code == driver_not_loaded ? "Driver Not Loaded" : code == not_found ? "Not Found" : "?";
}
EXPORTED DeviceGetCount nvmlDeviceGetCount_v2;
Return nvmlDeviceGetCount_v2(unsigned* count) { return *count = devices, success; }
EXPORTED DeviceGetHandleByIndex nvmlDeviceGetHandleByIndex_v2;
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* handle) {
  return *handle = &device[index], success;
}
EXPORTED DeviceGetHandleByPciBusId nvmlDeviceGetHandleByPciBusId_v2;
Return nvmlDeviceGetHandleByPciBusId_v2(const char* bus, Device* handle) {
  for (nvmlDevice_st& each : device)
    if (std::strcmp(each.address, bus) == 0) return *handle = &each, success;
  return not_found;
}
EXPORTED DeviceGetTotalEnergyConsumption nvmlDeviceGetTotalEnergyConsumption;
Return nvmlDeviceGetTotalEnergyConsumption(Device handle, unsigned long long* millijoules) {
  if (!counts) return not_supported;
  return *millijoules = handle->millijoules, success;
}
EXPORTED DeviceGetPowerUsage nvmlDeviceGetPowerUsage;
Return nvmlDeviceGetPowerUsage(Device handle, unsigned* milliwatts) {
  return *milliwatts = handle->milliwatts, success;
}
