// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library: the energy counter of a device (Volta and later), or else its power, read every 0.1 s and
// integrated by the trapezoidal rule, E ≈ Σ (P_i + P_{i+1})/2 · (t_{i+1} − t_i).
#include "executor/live/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "executor/live/energy.hpp"
#include "executor/live/shared_library.hpp"

namespace dlnb::energies {
namespace {

constexpr double sampling = 0.1;  // s

/// The initialised library.
class Library {
 public:
  explicit Library(const std::string& file) : library_({file.c_str()}) {
    if (!library_.loaded()) throw std::runtime_error(library_.problem() + " (it comes with NVIDIA's driver)");
    find("nvmlInit_v2", init_);
    find("nvmlShutdown", shutdown_);
    find("nvmlErrorString", error_string_);
    find("nvmlDeviceGetCount_v2", count);
    find("nvmlDeviceGetHandleByIndex_v2", by_index);
    find("nvmlDeviceGetHandleByPciBusId_v2", by_address);
    find("nvmlDeviceGetTotalEnergyConsumption", energy);
    find("nvmlDeviceGetPowerUsage", power);
    check(init_(), "nvmlInit");
  }
  ~Library() { shutdown_(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void check(nvml::Return code, const char* call) const {
    if (code != nvml::success)
      throw std::runtime_error(fmt::format("{}: {} ({})", call, error_string_(code), code));
  }

  nvml::DeviceGetCount* count = nullptr;
  nvml::DeviceGetHandleByIndex* by_index = nullptr;
  nvml::DeviceGetHandleByPciBusId* by_address = nullptr;
  nvml::DeviceGetTotalEnergyConsumption* energy = nullptr;
  nvml::DeviceGetPowerUsage* power = nullptr;

 private:
  template <class Function>
  void find(const char* name, Function*& function) const {
    if (!library_.find(name, function)) throw std::runtime_error(fmt::format("NVML has no {}", name));
  }

  const SharedLibrary library_;
  nvml::Init* init_ = nullptr;
  nvml::Shutdown* shutdown_ = nullptr;
  nvml::ErrorString* error_string_ = nullptr;
};

class Devices final : public EnergyCounters {
 public:
  Devices(std::unique_ptr<Library> library, const EnergyPlace& place) : library_(std::move(library)) {
    if (place.all_devices) {
      unsigned count = 0;
      library_->check(library_->count(&count), "nvmlDeviceGetCount");
      for (unsigned i = 0; i < count; ++i) {
        nvml::Device device = nullptr;
        library_->check(library_->by_index(i, &device), "nvmlDeviceGetHandleByIndex");
        add(device, std::to_string(i));
      }
    }
    for (const std::string& address : place.devices) {
      nvml::Device device = nullptr;
      library_->check(library_->by_address(address.c_str(), &device), address.c_str());
      add(device, address);
    }
  }

  bool none() const { return devices_.empty(); }

  std::string method() const override {
    std::string text = "NVML";
    const auto sampled = std::ranges::count(devices_, true, &Counted::is_sampled);
    if (sampled < std::ssize(devices_)) text += " energy counter";
    if (sampled > 0)
      text += fmt::format("{} power, every {} s, integrated",
                          sampled < std::ssize(devices_) ? " and, where there is none," : "", sampling);
    return text;
  }

  std::vector<EnergyReading> read() override {
    std::vector<EnergyReading> readings;
    for (Counted& device : devices_) {
      if (device.is_sampled) {
        const auto now = std::chrono::steady_clock::now();
        const double watts = power_of(device.handle);
        device.joules += (device.watts + watts) / 2 * std::chrono::duration<double>(now - device.at).count();
        device.watts = watts, device.at = now;
      } else {
        device.joules = double(energy_of(device.handle) - device.first) / 1e3;
      }
      readings.push_back({device.address, device.joules});
    }
    return readings;
  }

  Seconds longest_gap() const override {
    return {std::ranges::any_of(devices_, &Counted::is_sampled) ? sampling : 0};
  }

 private:
  struct Counted {
    nvml::Device handle = nullptr;
    std::string address;
    bool is_sampled = false;
    unsigned long long first = 0;  // mJ
    double watts = 0;
    std::chrono::steady_clock::time_point at;
    double joules = 0;
  };

  void add(nvml::Device handle, const std::string& address) {
    Counted device{.handle = handle, .address = address};
    unsigned long long now = 0;
    device.is_sampled = library_->energy(handle, &now) == nvml::not_supported;
    if (device.is_sampled) device.watts = power_of(handle), device.at = std::chrono::steady_clock::now();
    else device.first = energy_of(handle);
    devices_.push_back(std::move(device));
  }
  unsigned long long energy_of(nvml::Device device) const {
    unsigned long long millijoules = 0;
    library_->check(library_->energy(device, &millijoules), "nvmlDeviceGetTotalEnergyConsumption");
    return millijoules;
  }
  double power_of(nvml::Device device) const {
    unsigned milliwatts = 0;
    library_->check(library_->power(device, &milliwatts), "nvmlDeviceGetPowerUsage");
    return double(milliwatts) / 1e3;
  }

  const std::unique_ptr<Library> library_;
  std::vector<Counted> devices_;
};

EnergySource::Opened open(const EnergyPlace& place) {
  if (place.devices.empty() && !place.all_devices) return {nullptr, "no rank works on a GPU"};
  try {
    auto devices = std::make_unique<Devices>(std::make_unique<Library>(place.nvml), place);
    if (devices->none()) return {nullptr, "NVML sees no device"};
    return {std::move(devices), {}};
  } catch (const std::runtime_error& error) {
    return {nullptr, error.what()};
  }
}

}  // namespace

extern constinit const EnergySource nvml{
    .name = "nvml",
    .summary = "counters of NVIDIA devices, else their power integrated; those that ranks work on",
    .whole_machine = false,
    .open = open,
};

}  // namespace dlnb::energies
