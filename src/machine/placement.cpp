// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "machine/machine.hpp"
#include "machine/slurm.hpp"

namespace dlnb {
namespace {

int device_in(std::string_view text, const Machine& machine, const std::string& where) {
  int device = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), device);
  if (failure != std::errc() || end != text.data() + text.size() || device < 0)
    throw UserError(where, fmt::format("{} is no device", in_quotes(text)), "for example 0-3,8");
  if (device >= machine.devices())
    throw UserError(where, fmt::format("there is no device {} on {}", device, machine.name),
                    fmt::format("the last of its {} nodes × {} is {}", machine.nodes,
                                machine.devices_per_node, machine.devices() - 1));
  return device;
}

/// All devices of nodes that the batch system names, as many as there are ranks.
Placement devices_of_nodes(std::string_view text, const Machine& machine, std::int64_t ranks,
                           const std::string& where) {
  std::unordered_map<std::string_view, int> number;
  for (std::size_t node = 0; node < machine.node_names.size(); ++node)
    number.emplace(machine.node_names[node], int(node));
  const std::vector<std::string> names = slurm_node_list(text, where, machine.nodes);
  const std::int64_t each = machine.devices_per_node, nodes = (ranks + each - 1) / each;
  if (std::int64_t(names.size()) != nodes)
    throw UserError(where, fmt::format("{} nodes of {} devices for {} ranks, which take {}", names.size(),
                                       each, ranks, nodes));
  Placement devices;
  for (const std::string& name : names) {
    const auto found = number.find(name);
    if (found == number.end())
      throw UserError(
          where, fmt::format("{} has no node called {}", machine.name, in_quotes(name)),
          fmt::format("it has {} nodes, the first is {}", machine.nodes, machine.node_names.front()));
    for (int d = 0; d < each && std::int64_t(devices.size()) < ranks; ++d)
      devices.push_back(int(found->second * each + d));
  }
  return devices;
}

/// The kind of a name such as "intra-group-same-l1-4", and the 4.
std::pair<const PlacementKind*, int> kind_called(const std::string& name, const std::string& where) {
  constexpr std::string_view infix = "-same-l1-";
  const std::size_t at = name.find(infix);
  if (at == std::string::npos) return {&entry_called(placements::all(), name, where), 0};
  const PlacementKind& kind = entry_called(placements::all(), name.substr(0, at), where);
  const char *begin = name.data() + at + infix.size(), *end = name.data() + name.size();
  int block = 0;
  const auto [rest, error] = std::from_chars(begin, end, block);
  if (!kind.blocks || error != std::errc{} || rest != end || block < 1)
    throw UserError(where, fmt::format("nothing is called {}", in_quotes(name)),
                    "for example intra-group-same-l1-4 or inter-group-same-l1-2");
  return {&kind, block};
}

/// "0-3,8" → 0 1 2 3 8
Placement devices_of(std::string_view text, const Machine& machine, const std::string& where) {
  Placement devices;
  for (;;) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const int first = device_in(part.substr(0, dash), machine, where);
    const int last =
        dash == std::string_view::npos ? first : device_in(part.substr(dash + 1), machine, where);
    if (last < first)
      throw UserError(where, fmt::format("{} runs backwards", in_quotes(part)),
                      fmt::format("write {}-{}", last, first));
    for (int device = first; device <= last; ++device) devices.push_back(device);
    if (comma == std::string_view::npos) return devices;
    text.remove_prefix(comma + 1);
  }
}

class Machinery {
 public:
  explicit Machinery(const Machine& machine) : machine_(machine), taken_(std::size_t(machine.devices())) {}

  Placement place(const PlacementRequest& job) {
    if (job.ranks < 1)
      throw UserError(job.where("ranks"), fmt::format("a run has at least one rank, found {}", job.ranks));
    if (job.ranks > machine_.devices())
      throw UserError(job.where("ranks"),
                      fmt::format("{} ranks, but {} has {} devices ({} nodes × {})", job.ranks, machine_.name,
                                  machine_.devices(), machine_.nodes, machine_.devices_per_node),
                      "one rank takes one device: ask for fewer ranks, or for a larger machine");
    const Placement devices = job.devices.empty() ? on_free_nodes(job) : named(job);
    for (const int device : devices)
      if (taken_[std::size_t(device)])
        throw UserError(job.where("devices"),
                        fmt::format("device {} has a job before this one already", device),
                        "jobs may share nodes, but no device");
    for (const int device : devices) {
      if (taken_[std::size_t(device)])
        throw UserError(job.where("devices"), fmt::format("device {} is given to two ranks", device));
      taken_[std::size_t(device)] = true;
    }
    return devices;
  }

 private:
  Placement named(const PlacementRequest& job) const {
    const std::string where = job.where("devices");
    if (!machine_.node_names.empty() && job.devices.find_first_not_of("0123456789,-") != std::string::npos)
      return devices_of_nodes(job.devices, machine_, job.ranks, where);
    if (job.devices.find('[') != std::string::npos)
      throw UserError(where,
                      fmt::format("{} is a list of nodes, and the file of {} gives its nodes no names",
                                  in_quotes(job.devices), machine_.name),
                      "number devices, for example 0-3,8; or add node_names to the machine file");
    Placement devices = devices_of(job.devices, machine_, where);
    if (std::int64_t(devices.size()) != job.ranks)
      throw UserError(where, fmt::format("{} devices for {} ranks", devices.size(), job.ranks));
    return devices;
  }
  Placement on_free_nodes(const PlacementRequest& job) const {
    const std::string where = job.where("placement");
    const auto [kind, block] = kind_called(job.placement, where);
    if (machine_.nodes == 1 && kind->on_switches)
      throw UserError(where, fmt::format("{}: {} is one node, without first-level switches", job.placement,
                                         machine_.name));
    if (machine_.nodes == 1) return on_free_devices(job);
    const int each = machine_.devices_per_node;
    std::vector<int> nodes;
    for (int node = 0; node < machine_.nodes; ++node) {
      const auto first = taken_.begin() + std::ptrdiff_t(node) * each;
      if (std::find(first, first + each, true) == first + each) nodes.push_back(node);
    }
    if (job.ranks > std::int64_t(nodes.size()) * each)
      throw UserError(job.where("ranks"),
                      fmt::format("{} ranks, but the jobs before leave {} free nodes of {} devices on {}",
                                  job.ranks, nodes.size(), each, machine_.name),
                      "jobs share no node unless --devices says so");
    return kind->place(machine_, {nodes, job.ranks, job.seed, block, where});
  }

  // The jobs of a machine of one node can only share it.
  Placement on_free_devices(const PlacementRequest& job) const {
    Placement devices;
    for (int device = 0; device < machine_.devices() && std::int64_t(devices.size()) < job.ranks; ++device)
      if (!taken_[std::size_t(device)]) devices.push_back(device);
    if (std::int64_t(devices.size()) < job.ranks)
      throw UserError(job.where("ranks"),
                      fmt::format("{} ranks, but the jobs before leave {} free devices on {}", job.ranks,
                                  devices.size(), machine_.name));
    return devices;
  }

  const Machine& machine_;
  std::vector<bool> taken_;
};

}  // namespace

std::vector<Placement> place(const Machine& machine, const std::vector<PlacementRequest>& jobs) {
  Machinery machinery(machine);
  std::vector<Placement> placements;
  for (const PlacementRequest& job : jobs) placements.push_back(machinery.place(job));
  return placements;
}

Placement place(const Machine& machine, std::int64_t ranks, const std::string& placement, std::int64_t seed,
                const std::string& where) {
  return Machinery(machine).place({ranks, placement, {}, seed, [&](const std::string& key) {
                                     return key == "ranks" ? where : "--" + key;
                                   }});
}

}  // namespace dlnb
