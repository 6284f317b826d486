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

struct Efficiency {
  double ceiling = 1;
  double half = 0;
  std::string source;
};
constexpr auto efficiency_options = options(
    option("ceiling", &Efficiency::ceiling, "achieved / peak of very large kernels", Range{1e-6, 1}),
    option("half", &Efficiency::half, "FLOP of a kernel that reaches half the ceiling", Range{0, 1e18}),
    option("source", &Efficiency::source, "where the curve is measured"));

}  // namespace

Device load_device(const std::string& name_or_file, const std::string& where) {
  const Value file = read_document(find_data("devices", name_or_file, where));
  Device device;
  device_options.read(without(file, {"efficiency"}), "", device);
  require_members(file, "", {"name", "source", "peak", "peak_type", "memory_bandwidth", "memory"});
  if (const Value* table = file.find("efficiency")) {
    Efficiency efficiency;
    efficiency_options.read(*table, "efficiency", efficiency);
    require_members(*table, "efficiency", {"ceiling", "half", "source"});
    if (efficiency.source.empty())
      throw UserError(located(*table->find("source"), "efficiency.source"), "is empty",
                      "say where the curve was measured, or leave [efficiency] out");
    device.efficiency_ceiling = efficiency.ceiling;
    device.efficiency_half = {efficiency.half};
    device.efficiency_source = efficiency.source;
  }
  return device;
}

std::vector<std::string> shipped_devices() { return data_names("devices"); }

}  // namespace dlnb
