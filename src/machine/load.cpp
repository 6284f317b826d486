// SPDX-License-Identifier: Apache-2.0
// A machine file: what it is, [node] the fabric between the devices of one node, [network] the fabric between
// NICs, [[degraded]] which of its cables are slow or dead, [software] what communication libraries cost on top.
#include <fmt/format.h>

#include <algorithm>
#include <dlnb/error.hpp>
#include <filesystem>
#include <limits>
#include <span>

#include "core/data.hpp"
#include "machine/damage.hpp"
#include "machine/library.hpp"
#include "machine/machine.hpp"
#include "machine/slurm.hpp"
#include "machine/table.hpp"
#include "machine/wiring.hpp"

namespace dlnb {
namespace {

struct Header {
  std::string name;
  std::string summary;
  std::string source;
  std::string device;
  std::string node_names;
  int nodes = 1;
  int devices_per_node = 1;
  int nics_per_node = 0;
};
constexpr auto header_options = options(
    option("name", &Header::name, "what results call it"), option("summary", &Header::summary, "one line"),
    option("source", &Header::source, "where its structure is published"),
    option("device", &Header::device, "a shipped device, or a device file beside this one"),
    option("node_names", &Header::node_names,
           "what the batch system calls them, as a Slurm node list: \"n[1-64]\""),
    option("nodes", &Header::nodes, "nodes", count_range),
    option("devices_per_node", &Header::devices_per_node, "devices of a node", count_range),
    option("nics_per_node", &Header::nics_per_node, "network ports of a node; none: the machine is one node",
           count_or_none));

struct CostFields {
  Seconds collective_start, step, message_start;
  double efficiency = 1;
  double node_efficiency = 0;
  Bytes piece{0};
  double least_pieces = 1;
  std::string algorithm;
  std::vector<std::string> network_protocols;
  double overlap_slowdown = 1;
  bool nvls = false, sharp = false;
  std::string source;
};
constexpr auto cost_options = options(
    option("collective_start", &CostFields::collective_start, "once per collective", latency_range),
    option("step", &CostFields::step, "per step of an algorithm, on top of the links' latency",
           latency_range),
    option("message_start", &CostFields::message_start, "once per send and receive", latency_range),
    option("efficiency", &CostFields::efficiency, "achieved / nominal bandwidth", Range{1e-6, 1}),
    option("node_efficiency", &CostFields::node_efficiency, "the same inside nodes, where it is another",
           Range{1e-6, 1}),
    option("piece", &CostFields::piece, "largest part of an operation that trees and chains hand on at once",
           Range{0, 1e18}),
    option("least_pieces", &CostFields::least_pieces, "pieces that an operation is cut into at least",
           Range{1, 1e6}),
    option("algorithm", &CostFields::algorithm,
           "forces an algorithm, or algorithm/protocol, where it can do it"),
    option("network_protocols", &CostFields::network_protocols, "those the library uses between nodes"),
    option("nvls", &CostFields::nvls, "the switches inside a node multicast and reduce"),
    option("sharp", &CostFields::sharp, "the switches between nodes reduce"),
    option("overlap_slowdown", &CostFields::overlap_slowdown,
           "compute takes so many times as long while its rank communicates", Range{1, 1e3}),
    option("source", &CostFields::source, "where these are published or measured"));

constexpr auto operation_cost_options = options(
    option("start", &OperationCost::start, "once per operation", latency_range),
    option("step", &OperationCost::step, "per algorithm step", latency_range),
    option("efficiency", &OperationCost::efficiency, "achieved / nominal bandwidth", Range{1e-6, 1e3}));

constexpr auto rule_options = options(
    option("operation", &TuningRule::operation, "all-reduce, …; any where it is left out"),
    option("max_size", &TuningRule::max_size, "largest operation, bytes of its larger side on a rank"),
    option("max_ranks", &TuningRule::max_ranks, "largest group", positive),
    option("max_nodes", &TuningRule::max_nodes, "on at most so many nodes", positive),
    option("algorithm", &TuningRule::algorithm, "algorithm, or algorithm/protocol"));

// [software.all-reduce] and the like hold what was measured of one kind.
constexpr const char* measured_kinds[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all",
                                          "broadcast",  "barrier",    "message"};

std::vector<TuningRule> read_rules(const Value& array) {
  std::vector<TuningRule> rules;
  for (const Value& table : array.array("software.tuning")) {
    TuningRule& rule = rules.emplace_back();
    rule_options.read(table, "software.tuning", rule);
    require_members(table, "software.tuning", {"algorithm"});
    rule.where = located(*table.find("algorithm"), "software.tuning.algorithm");
    const Value* operation = table.find("operation");
    const std::span kinds(measured_kinds, std::size(measured_kinds) - 1);  // messages have no algorithm
    if (operation && std::ranges::find(kinds, rule.operation) == kinds.end())
      unknown_word(*operation, "software.tuning.operation", {kinds.begin(), kinds.end()});
  }
  return rules;
}

unsigned read_protocols(const Value& value) {
  unsigned set = 0;
  for (const Value& word : value.array("software.network_protocols"))
    set |= 1u << int(read_protocol(word, "software.network_protocols"));
  if (set == 0)
    throw UserError(located(value, "software.network_protocols"), "names no protocol",
                    "leave it out where all are used");
  return set;
}

Software read_software(const Value& table) {
  CostFields costs;
  Value common = without(table, {"library", "cost", "tuning"});
  for (const char* kind : measured_kinds) common = without(common, {kind});
  cost_options.read(common, "software", costs);
  require_members(table, "software", {"source"});
  Software software;
  software.collective_start = costs.collective_start;
  software.step = costs.step;
  software.message_start = costs.message_start;
  software.efficiency = costs.efficiency;
  software.node_efficiency = costs.node_efficiency;
  software.piece = costs.piece;
  software.least_pieces = costs.least_pieces;
  software.forced = costs.algorithm;
  if (const Value* forced = table.find("algorithm"))
    software.forced_where = located(*forced, "software.algorithm");
  software.node_reduces = costs.nvls;
  software.network_reduces = costs.sharp;
  software.overlap_slowdown = costs.overlap_slowdown;
  if (const Value* words = table.find("network_protocols"))
    software.network_protocols = read_protocols(*words);
  if (const Value* library = table.find("library")) {
    std::string name;
    read_value(*library, "software.library", name);
    software.library = load_library(name, located(*library, "software.library"));
    for (const char* key : {"collective_start", "step", "message_start"})
      if (const Value* value = table.find(key))
        throw UserError(located(*value, fmt::format("software.{}", key)),
                        "says what the library's tuning model says too",
                        "leave it out, or change the model's costs in [[software.cost]]");
  }
  if (const Value* own = table.find("cost")) {
    if (!software.library)
      throw UserError(located(*own, "software.cost"), "changes the costs of no library",
                      "name the library: library = \"nccl\"");
    software.costs = read_tuning_costs(*own, "software.cost", software.library.get());
  }
  if (const Value* rules = table.find("tuning")) software.tuning = read_rules(*rules);
  for (const char* kind : measured_kinds)
    if (const Value* own = table.find(kind)) {
      OperationCost& cost = software.measured[kind];
      operation_cost_options.read(*own, fmt::format("software.{}", kind), cost);
    }
  return software;
}

/// The document of a machine file, with the paths of what lies beside it: a device's file, a batch system's topology.
Value read_machine_document(const std::filesystem::path& path) {
  Value file = read_document(path);
  for (const auto* key : {"device", "network.file"}) {
    const Value* value = file.find_path(key);
    if (!value || !value->is_string()) continue;
    const std::filesystem::path named(std::get<std::string>(value->data()));
    if (key == std::string_view("device") && named.extension() != ".toml") continue;  // a shipped one
    file.set_path(key, Value{(path.parent_path() / named).string(), value->where()});
  }
  return file;
}

const Topology& topology_of(const Value& table, std::string_view path) {
  require_members(table, path, {"topology"});
  const Value& value = *table.find("topology");
  const std::string key = fmt::format("{}.topology", path);
  std::string name;
  read_value(value, key, name);
  return entry_called(topologies::all(), name, located(value, key));
}

struct NetworkFields {
  Routing routing = Routing::ecmp;
};
constexpr auto network_options = options(
    choice("routing", &NetworkFields::routing, "how flows find their way; by default what suits the topology",
           std::array{Word<Routing>{"minimal", Routing::minimal}, Word<Routing>{"ecmp", Routing::ecmp},
                      Word<Routing>{"spray", Routing::spray}, Word<Routing>{"adaptive", Routing::adaptive}}));

Routing routing_of(const Value& network) {
  NetworkFields fields{topology_of(network, "network").routing};
  if (const Value* value = network.find("routing"))
    std::get<0>(network_options.each).read(*value, "network.routing", fields);
  return fields.routing;
}

std::shared_ptr<const Fabric> build_fabric(const Value& table, std::string_view path,
                                           std::int64_t endpoints) {
  const Topology& topology = topology_of(table, path);
  if (endpoints > most_endpoints)
    throw UserError(located(table, path),
                    fmt::format("{} endpoints are more than {}", endpoints, most_endpoints));
  return topology.build(without(table, {"topology"}), int(endpoints));
}

// The table as the topology reads it: without what is not its own, and with NICs per node where it asks for them.
Value network_table(const Value& network, const Header& header) {
  Value table = without(network, {"routing"});
  if (topology_of(network, "network").name == "slurm_tree" && !table.find("node_ports"))
    table.set_path("node_ports", Value{std::int64_t{header.nics_per_node}, ""});
  return table;
}

// A batch system's file names the nodes: all of them, unless the machine's says how many.
void count_nodes(const Value& file, Header& header) {
  const Value* network = file.find("network");
  if (file.find("nodes") || !network || topology_of(*network, "network").name != "slurm_tree") return;
  const Value* named = network->find("file");
  if (!named || !named->is_string()) return;  // its reader says so
  const std::string where = located(*named, "slurm_tree.file");
  header.nodes = int(read_slurm_topology(std::get<std::string>(named->data()), where).nodes.size());
}

// "dragonfly_plus, 23 groups"
std::string describe(const Value& table, std::string_view path) {
  std::string text(topology_of(table, path).name);
  for (const char* part : {"groups", "pods", "planes"})
    if (const Value* value = table.find(part)) {
      int count = 0;
      read_value(*value, part, count);
      if (count > 0) text += fmt::format(", {} {}", count, part);
    }
  return text;
}

void check_sizes(const Value& file, const Header& header) {
  auto at = [&](std::string_view key) {
    const Value* value = file.find(key);
    return located(value ? *value : file, key);
  };
  const std::int64_t devices = std::int64_t{header.nodes} * header.devices_per_node;
  if (devices > most_endpoints)
    throw UserError(at("nodes"), fmt::format("{} nodes × {} devices are more than {} devices", header.nodes,
                                             header.devices_per_node, most_endpoints));
  if (header.nics_per_node > header.devices_per_node)
    throw UserError(at("nics_per_node"),
                    fmt::format("{} NICs for {} devices; a device sends through one NIC",
                                header.nics_per_node, header.devices_per_node),
                    "give the ports that serve one device as one NIC of their summed bandwidth");
  if (header.nodes > 1 && header.nics_per_node == 0)
    throw UserError(at("nics_per_node"), fmt::format("{} nodes need at least one NIC each", header.nodes));
  if (header.nodes > 1 && !file.find("network"))
    throw UserError(at("network"), "several nodes need a [network]");
  if (header.devices_per_node > 1 && !file.find("node"))
    throw UserError(at("node"), "several devices in a node need a [node] fabric");
}

void check_links(const Value& file, const Machine& machine) {
  const auto of = [](const auto& fabric) { return fabric ? std::int64_t(fabric->links().size()) : 0; };
  const std::int64_t links = machine.nodes * of(machine.node_fabric) + of(machine.network);
  if (links > std::numeric_limits<LinkIndex>::max())
    throw UserError(located(file, "nodes"),
                    fmt::format("{} nodes × {} links in a node and {} in the network are more "
                                "links than can be numbered",
                                machine.nodes, of(machine.node_fabric), of(machine.network)));
}

// Of the nodes in order. A topology that was read from the batch system has names of its own.
std::vector<std::string> node_names(const Value& file, const Header& header, const Fabric* network) {
  const auto* named = dynamic_cast<const NamedNodes*>(network);
  const Value* list = file.find("node_names");
  if (!list) return named ? named->node_names() : std::vector<std::string>{};
  const std::string where = located(*list, "node_names");
  if (named) throw UserError(where, "the network's file names the nodes already");
  std::vector<std::string> names = slurm_node_list(header.node_names, where, most_named_nodes);
  if (names.size() < std::size_t(header.nodes))
    throw UserError(where, fmt::format("{} names for {} nodes", names.size(), header.nodes));
  names.resize(std::size_t(header.nodes));
  return names;
}

Machine read_machine(const std::filesystem::path& path, int nodes) {
  Value file = read_machine_document(path);
  if (nodes > 0) file.set_path("nodes", Value{std::int64_t{nodes}, "--nodes"});
  Header header;
  header_options.read(without(file, {"node", "network", "degraded", "software"}), "", header);
  require_members(file, "", {"name", "source", "device", "devices_per_node"});
  count_nodes(file, header);
  check_sizes(file, header);

  Machine machine;
  machine.name = header.name;
  machine.summary = header.summary;
  machine.source = header.source;
  machine.device = load_device(header.device, located(*file.find("device"), "device"));
  machine.nodes = header.nodes;
  machine.devices_per_node = header.devices_per_node;
  machine.nics_per_node = header.nics_per_node;
  if (const Value* node = file.find("node")) {
    machine.node_fabric = build_fabric(*node, "node", header.devices_per_node);
    machine.topology = describe(*node, "node");
  }
  if (const Value* network = file.find("network")) {
    if (header.nics_per_node == 0)
      throw UserError(located(*network, "network"), "nothing hangs on it: nics_per_node is 0");
    machine.network = build_fabric(network_table(*network, header), "network",
                                   std::int64_t{header.nodes} * header.nics_per_node);
    machine.node_names = node_names(file, header, machine.network.get());
    machine.routing = routing_of(*network);
    machine.topology = describe(*network, "network");
  }
  if (const Value* degraded = file.find("degraded")) {
    if (!machine.network)
      throw UserError(located(*degraded, "degraded"), "there is no [network] whose links to degrade");
    machine.network = damage(machine.network, *degraded, header.nics_per_node);
  }
  check_links(file, machine);
  if (const Value* software = file.find("software")) machine.software = read_software(*software);
  return machine;
}

}  // namespace

Machine load_machine(const std::string& name_or_file, const std::string& where, int nodes) {
  return read_machine(find_data("machines", name_or_file, where), nodes);
}

Value machine_document(const std::string& name_or_file, const std::string& where) {
  const std::filesystem::path path = std::filesystem::absolute(find_data("machines", name_or_file, where));
  read_machine(path, 0);
  return read_machine_document(path);
}

std::vector<std::string> shipped_machines() { return data_names("machines"); }

}  // namespace dlnb
