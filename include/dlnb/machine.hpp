// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/device.hpp>
#include <dlnb/units.hpp>

namespace dlnb {

using LinkIndex = std::int32_t;

/// Where a link sits; the rows of "bytes per link class".
enum class LinkClass : std::uint8_t { device, node, nic, leaf, group, global };

/// "device" (accelerator port), "node" (inside a node), "nic", "leaf" (switch to switch below a group's top),
/// "group" (inside a group), "global" (between groups)
const char* name_of(LinkClass link_class);

/// One direction of a cable.
struct Link {
  BytesPerSecond capacity;
  Seconds latency;
  LinkClass link_class = LinkClass::node;
};

/// How a flow finds its way where there are several.
enum class Routing : std::uint8_t {
  minimal,   ///< one minimal route for each destination, as static forwarding tables give
  ecmp,      ///< one minimal route for each flow, by hash
  spray,     ///< in even parts over all minimal routes
  adaptive,  ///< in parts over the least loaded routes, detours included
};

/// "minimal", "ecmp", "spray", "adaptive"
const char* name_of(Routing routing);

/// A network of links between numbered endpoints; routes are computed, never tabulated.
class Fabric {
 public:
  virtual ~Fabric() = default;

  virtual int endpoints() const = 0;
  virtual std::span<const Link> links() const = 0;
  /// Appends the links from one endpoint to another, in order; nothing where they are the same.
  /// `flow` spreads flows over equal paths; the same arguments always give the same route.
  virtual void route(int from, int to, std::uint64_t flow, std::vector<LinkIndex>& out) const = 0;
  /// How many minimal routes there are, at least 1. What does not say so has the one that `route` gives.
  virtual std::int64_t minimal_routes(int, int) const { return 1; }
  /// Appends minimal route number `choice`, taken modulo their number. They carry equal shares when all are used.
  virtual void minimal_route(int from, int to, std::uint64_t choice, std::vector<LinkIndex>& out) const {
    route(from, to, choice, out);
  }
  /// Appends a longer way round, over a switch or group picked by `choice` (Valiant); nothing where there is none.
  virtual void detour(int, int, std::uint64_t, std::vector<LinkIndex>&) const {}
  /// The first-level switch and the group an endpoint hangs on (placement classes); 0 where there is only one.
  virtual int switch_of(int) const { return 0; }
  virtual int group_of(int) const { return 0; }
};

/// What one kind of operation costs beyond its links.
struct OperationCost {
  Seconds start{0};       ///< once
  Seconds step{0};        ///< per algorithm step
  double efficiency = 1;  ///< achieved / nominal bandwidth
};

/// How a library tells a receiver that data is there: with a signal behind it (simple), or in every 128 or 8 bytes of it.
enum class Protocol : std::uint8_t { simple, ll128, ll };
inline constexpr int protocols = 3;
/// "simple", "ll128", "ll"
const char* name_of(Protocol protocol);

/// Values for groups on one node, on two, and on more.
template <class T>
struct ByNodes {
  T one{}, two{}, more{};
  T at(int nodes) const { return nodes <= 1 ? one : nodes == 2 ? two : more; }
};

/// What a library's tuning model says of one algorithm with one protocol:
///   time = start + Σ over steps of node_step or network_step + bytes / (bandwidth · the links')
struct TuningCost {
  std::string algorithm;
  Protocol protocol = Protocol::simple;
  Seconds start{0};
  Seconds node_step{0};
  Seconds network_step{0};
  Seconds least_step{0};  ///< of a node step, where the group spans nodes
  Seconds mean_step{0};   ///< where the group spans nodes, of all steps, instead of the three above; 0: not
  ByNodes<double> bandwidth{1, 1, 1};  ///< achieved / that of the links
  double plateau = 1;                  ///< the library's guess of latency is multiplied by it between nodes …
  Bytes plateau_from{0};               ///< … from this size per member on
  std::vector<double> size_correction;  ///< of the guessed bandwidth at 64 B, 128 B, …; 1 beyond the last
};

/// Highest bus bandwidth of a protocol on some devices.
struct ProtocolLimit {
  Protocol protocol = Protocol::simple;
  std::vector<std::string> devices;
  ByNodes<BytesPerSecond> most;
};

/// A communication library as its own tuning model describes it; data/libraries/.
struct Library {
  std::string name;
  std::string summary;
  std::string source;
  std::vector<TuningCost> costs;
  std::vector<ProtocolLimit> limits;

  const TuningCost* find(std::string_view algorithm, Protocol protocol) const;
};

/// A row of a tuning table: operations within these limits are done so. The first that fits counts.
struct TuningRule {
  std::string operation;  ///< "all-reduce", …; empty: any
  Bytes max_size{INT64_MAX};
  std::int64_t max_ranks = INT64_MAX;
  std::int64_t max_nodes = INT64_MAX;
  std::string algorithm;  ///< "ring" or "ring/ll"
  std::string where;      ///< the row was written
};

/// Costs of communication software, per machine file.
struct Software {
  Seconds collective_start{0};  ///< once per collective
  Seconds step{0};              ///< per algorithm step, on top of the links' latency
  Seconds message_start{0};     ///< once per send/receive pair
  double efficiency = 1;        ///< achieved / nominal bandwidth of the fabric (protocol overhead)
  double node_efficiency = 0;   ///< the same inside nodes; 0: `efficiency`
  Bytes piece{0};               ///< largest part of an operation that trees and chains hand on at once …
  double least_pieces = 1;      ///< … of which an operation has at least so many
  /// Measured kinds, by name ("all-reduce", …; "message"): instead of the three times above, and with an efficiency of
  /// their own on top.
  std::map<std::string, OperationCost, std::less<>> measured;
  /// Whose tuning model chooses algorithm and protocol and says what they cost; null: the fastest is taken.
  std::shared_ptr<const Library> library;
  std::vector<TuningCost> costs;  ///< where this machine is known to differ from its library's model
  std::vector<TuningRule> tuning;
  std::string forced;        ///< algorithm for what it handles: "ring" or "ring/ll"; empty: chosen
  std::string forced_where;  ///< that was written
  /// Protocols the library uses between nodes; bit = Protocol.
  unsigned network_protocols = (1u << protocols) - 1;
  bool node_reduces = false;     ///< NVLS
  bool network_reduces = false;  ///< SHARP
  double overlap_slowdown = 1;   ///< compute takes so many times as long while its rank communicates

  OperationCost cost_of(std::string_view operation) const {
    if (const auto found = measured.find(operation); found != measured.end()) return found->second;
    if (operation == "message") return {message_start, Seconds{0}, 1};
    return {collective_start, step, 1};
  }
  /// What an algorithm with a protocol costs here; null where no library is named, or it does not know it.
  const TuningCost* tuned_cost(std::string_view algorithm, Protocol protocol) const;
  /// Achieved / nominal bandwidth of links of a class.
  double efficiency_of(LinkClass link_class) const {
    const bool inside = link_class == LinkClass::device || link_class == LinkClass::node;
    return inside && node_efficiency > 0 ? node_efficiency : efficiency;
  }
};

/// A modelled machine: nodes of accelerators on a node fabric, their NICs on a network.
struct Machine {
  std::string name;
  std::string summary;
  std::string source;
  Device device;
  int nodes = 1;
  int devices_per_node = 1;
  int nics_per_node = 0;                      ///< 0: one node only
  std::shared_ptr<const Fabric> node_fabric;  ///< endpoints: the devices of one node (shared: immutable)
  std::shared_ptr<const Fabric> network;      ///< endpoints: node · nics_per_node + nic; null for one node
  Routing routing = Routing::ecmp;            ///< over the network; in nodes flows are hashed
  Software software;
  std::string topology;  ///< "dragonfly_plus, 23 groups"
  std::vector<std::string>
      node_names;  ///< as the batch system calls the nodes; empty: they have numbers only

  int devices() const { return nodes * devices_per_node; }
  int node_of(int which) const { return which / devices_per_node; }
  /// The NIC (within the node) a device sends through.
  int nic_of(int which) const;
  int links() const;
  const Link& link(LinkIndex index) const;
  /// The NIC of a device as the network numbers it.
  int endpoint_of(int which) const { return node_of(which) * nics_per_node + nic_of(which); }
  /// The first link of the network; those of the nodes come before.
  LinkIndex first_network_link() const;
  /// Appends the links between two devices: one route, minimal; between nodes by destination where `routing` is
  /// minimal, else by hash.
  void route(int from, int to, std::uint64_t flow, std::vector<LinkIndex>& out) const;
};

/// device_of[rank]
using Placement = std::vector<int>;

}  // namespace dlnb
