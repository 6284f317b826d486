// SPDX-License-Identifier: Apache-2.0
#include "executor/live/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>

#include <dlnb/error.hpp>

namespace dlnb {
namespace {

using Handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, decltype(&hwloc_topology_destroy)>;

/// A topology that is filled by `prepare` and then loaded, or nothing.
template <class Prepare>
Handle load(Prepare prepare) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {nullptr, hwloc_topology_destroy};
  Handle topology(raw, hwloc_topology_destroy);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (prepare(raw) != 0 || hwloc_topology_load(raw) != 0) topology.reset();
  return topology;
}

Cpus cpus_in(hwloc_const_cpuset_t set) {
  Cpus cpus;
  if (!set) return cpus;
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) cpus[cpu] = hwloc_bitmap_isset(set, unsigned(cpu));
  return cpus;
}

int numa_of(hwloc_obj_t object) { return object->nodeset ? hwloc_bitmap_first(object->nodeset) : -1; }

using Pci = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

// Devices that compute, and not the display chips of management controllers. PCI classes: 0300 VGA, 0302 3D,
// 0380 other display, 1200 processing accelerator.
bool is_gpu(const Pci& pci) {
  constexpr unsigned nvidia = 0x10de, amd = 0x1002, intel = 0x8086;
  const bool known = pci.vendor_id == nvidia || pci.vendor_id == amd || pci.vendor_id == intel;
  switch (pci.class_id) {
    case 0x0300: return pci.vendor_id == nvidia || pci.vendor_id == amd;
    case 0x0302:
    case 0x0380:
    case 0x1200: return known;
    default: return false;
  }
}

Topology read(const Handle& handle) {
  if (!handle) throw Unavailable("hwloc", "the topology of this host cannot be read", "use --binding none");
  const hwloc_topology_t hwloc = handle.get();
  Topology topology;
  topology.of_this_host = hwloc_topology_is_thissystem(hwloc) != 0;
  // Some virtual machines show hardware threads only.
  const bool has_cores = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t unit = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(hwloc, unit, o));)
    topology.cores.push_back({cpus_in(o->cpuset), numa_of(o)});
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, o));)
    topology.nodes.push_back({int(o->os_index), cpus_in(o->cpuset)});
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_pcidev(hwloc, o));) {
    const Pci& pci = o->attr->pcidev;
    if (!is_gpu(pci)) continue;
    const hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(hwloc, o);
    topology.gpus.push_back(
        {fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, unsigned(pci.func)),
         cpus_in(place->cpuset), numa_of(place)});
  }
  std::ranges::sort(topology.gpus, {}, &Gpu::address);
  return topology;
}

}  // namespace

Topology topology_of_this_host() {
  return read(load([](hwloc_topology_t) { return 0; }));
}

Topology synthetic_topology(const std::string& description) {
  return read(
      load([&](hwloc_topology_t raw) { return hwloc_topology_set_synthetic(raw, description.c_str()); }));
}

Topology topology_in_xml(const std::string& xml) {
  return read(load([&](hwloc_topology_t raw) {
    return hwloc_topology_set_xmlbuffer(raw, xml.c_str(), int(xml.size()) + 1);
  }));
}

std::string to_text(const Topology& topology) {
  std::size_t most = 1;
  for (const Core& core : topology.cores) most = std::max(most, core.threads.count());
  const auto counted = [](std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  return fmt::format("{}{}, {}, {}", counted(topology.cores.size(), "core"),
                     most > 1 ? fmt::format(" with {} threads each", most) : "",
                     counted(topology.nodes.size(), "NUMA node"),
                     topology.gpus.empty() ? "no GPU" : counted(topology.gpus.size(), "GPU"));
}

}  // namespace dlnb
