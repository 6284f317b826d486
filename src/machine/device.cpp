// SPDX-License-Identifier: Apache-2.0
#include <dlnb/error.hpp>

#include "core/data.hpp"
#include "machine/machine.hpp"
#include "machine/table.hpp"

namespace dlnb {
namespace {

constexpr Range rate_range{1, 1e24};
constexpr auto device_options = options(
    option("name", &Device::name, "what results call it"), option("summary", &Device::summary, "one line"),
    option("source", &Device::source, "where the peaks are published"),
    option("peak", &Device::peak, "dense, in peak_type", rate_range),
    option("peak_type", &Device::peak_type, "element type of the peak"),
    option("memory_bandwidth", &Device::memory_bandwidth, "peak", bandwidth_range),
    option("memory", &Device::memory, "capacity", Range{1, 1e15}));

constexpr Range share{1e-6, 1};
constexpr Range start_up{0, 1};
constexpr auto efficiency_options =
    options(option("matrix", &Efficiency::matrix, "achieved / peak of large matrix products", share),
            option("attention", &Efficiency::attention,
                   "achieved / peak of fused attention; default: as matrix", share),
            option("memory", &Efficiency::memory, "achieved / peak memory bandwidth", share),
            option("launch", &Efficiency::launch, "start-up of one kernel on the device", start_up),
            option("dispatch", &Efficiency::dispatch, "host time to issue one kernel", start_up),
            option("source", &Efficiency::source, "where these are measured"));

}  // namespace

Device load_device(const std::string& name_or_file, const std::string& where) {
  const Value file = read_document(find_data("devices", name_or_file, where));
  Device device;
  device_options.read(without(file, {"efficiency"}), "", device);
  require_members(file, "", {"name", "source", "peak", "peak_type", "memory_bandwidth", "memory"});
  if (const Value* table = file.find("efficiency")) {
    Efficiency& efficiency = device.efficiency;
    efficiency_options.read(*table, "efficiency", efficiency);
    require_members(*table, "efficiency", {"matrix", "memory", "launch", "source"});
    if (!table->find("attention")) efficiency.attention = efficiency.matrix;
    if (efficiency.source.empty())
      throw UserError(located(*table->find("source"), "efficiency.source"), "is empty",
                      "say where the curve was measured, or leave [efficiency] out");
  }
  return device;
}

std::vector<std::string> shipped_devices() { return data_names("devices"); }

}  // namespace dlnb
