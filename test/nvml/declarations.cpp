// SPDX-License-Identifier: Apache-2.0
// Our declarations of NVML against NVIDIA's: it compiles where they agree. An enumeration there is an int here.
#include <nvml.h>

#include <type_traits>

#include "executor/live/nvml.hpp"

namespace {

template <class T>
struct Plain {
  using Type = T;
};
template <>
struct Plain<nvmlReturn_t> {
  using Type = std::underlying_type_t<nvmlReturn_t>;
};
template <class T>
using PlainType = typename Plain<T>::Type;

template <class Real, class Ours>
struct Agree : std::false_type {};
template <class R, class... A, class R2, class... A2>
  requires(sizeof...(A) == sizeof...(A2))
struct Agree<R(A...), R2(A2...)>
    : std::bool_constant<sizeof(R) == sizeof(R2) && (std::is_same_v<PlainType<A>, PlainType<A2>> && ...) &&
                         (std::is_enum_v<R> || std::is_same_v<R, R2>)> {};
// The underlying type of an enumeration may be unsigned; an int has its size and range.
template <class R>
struct Agree<R(nvmlReturn_t), R(dlnb::nvml::Return)>
    : std::bool_constant<sizeof(nvmlReturn_t) == sizeof(dlnb::nvml::Return)> {};

namespace ours = dlnb::nvml;
static_assert(ours::success == NVML_SUCCESS && ours::not_supported == NVML_ERROR_NOT_SUPPORTED);
static_assert(std::is_same_v<ours::Device, nvmlDevice_t>);
static_assert(Agree<decltype(nvmlInit_v2), ours::Init>::value);
static_assert(Agree<decltype(nvmlShutdown), ours::Shutdown>::value);
static_assert(Agree<decltype(nvmlErrorString), ours::ErrorString>::value);
static_assert(Agree<decltype(nvmlDeviceGetCount_v2), ours::DeviceGetCount>::value);
static_assert(Agree<decltype(nvmlDeviceGetHandleByIndex_v2), ours::DeviceGetHandleByIndex>::value);
static_assert(Agree<decltype(nvmlDeviceGetHandleByPciBusId_v2), ours::DeviceGetHandleByPciBusId>::value);
static_assert(
    Agree<decltype(nvmlDeviceGetTotalEnergyConsumption), ours::DeviceGetTotalEnergyConsumption>::value);
static_assert(Agree<decltype(nvmlDeviceGetPowerUsage), ours::DeviceGetPowerUsage>::value);
// The comparison can fail.
static_assert(!Agree<decltype(nvmlDeviceGetPowerUsage), ours::DeviceGetTotalEnergyConsumption>::value);

}  // namespace

int main() {}
