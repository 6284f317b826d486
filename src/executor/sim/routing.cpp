// SPDX-License-Identifier: Apache-2.0
// Which links the flows of one operation load, and how much.
//   minimal, ecmp   one minimal route for each destination, or for each flow
//   spray           every minimal route carries an equal part
//   adaptive        a flow is cut into parts; part by part all flows choose, each the cheapest of two minimal
//                   routes, and while none of those seen is free of six more and four detours:
//                     cost of a route = hops · max over its links between switches of queue
//                     queue of a link = max(0, seconds of work put on it, this part included − pace)
//                     pace            = seconds of work of the busiest port (NIC) of the operation
//                   equal costs are told apart by hops · max load, then by order (minimal first)
// This is UGAL (Singh, "Load-Balanced Routing in Interconnection Networks", 2005; Kim, Dally, Scott, Abts,
// "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008): hops × queue, minimal against Valiant. In a
// fluid no link queues that has no more to do than the ports that feed it, which is what `pace` stands for. A few
// candidates with a preference for minimal ones are what Slingshot's switches compare for every packet (De Sensi, Di Girolamo, McMahon,
// Roweth, Hoefler, "An In-Depth Analysis of the Slingshot Interconnect", SC 2020). Switches see queues of all links
// at once, as here (UGAL-G); real ones see their own.
// What is on the network: the operation itself, those of the same pattern before it, and what other jobs take of a link
// (`give_way_to`), as part of its capacity, times pace. Other operations of the same job do not move a route.
#include "executor/sim/routing.hpp"

#include <algorithm>
#include <numeric>

#include <dlnb/error.hpp>

namespace dlnb::sim {
namespace {

/// Routes that all flows of an operation take together, at most: bounds time and memory.
constexpr std::size_t most_routes = std::size_t{1} << 18;
/// Parts of one flow. Powers of two, so that parts add up to the whole without rounding.
constexpr std::size_t most_sprayed = 64, most_adaptive = 8;
constexpr std::uint64_t least_candidates = 2, most_candidates = 8, detour_candidates = 4;
/// Work beyond the pace that is rounding.
constexpr double tolerance = 1e-9;

// splitmix64's finaliser (Steele, Lea, Flood, 2014): equal arguments give equal choices.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
constexpr std::uint64_t seed_of(int from, int to, std::size_t flow) {
  return mix(std::uint64_t(flow) ^ mix(std::uint64_t(std::uint32_t(from)) << 32 | std::uint32_t(to)));
}

/// The largest power of two that is at most `count`; 1 for 0.
constexpr std::size_t power_below(std::size_t count) {
  std::size_t power = 1;
  while (2 * power <= count) power *= 2;
  return power;
}

/// A step that visits all of `count` routes and, in any run of visits, lies evenly among them: near the golden
/// section and prime to the count (Weyl's sequence).
std::uint64_t stride_of(std::uint64_t count) {
  auto stride = std::uint64_t(0.6180339887498949 * double(count));
  if (stride < 1) stride = 1;
  while (std::gcd(stride, count) != 1) ++stride;
  return stride;
}

}  // namespace

Router::Router(const Machine& machine)
    : machine_(machine), first_network_link_(machine.first_network_link()) {
  if (machine.node_fabric) node_links_ = machine.node_fabric->links();
  if (machine.network) network_links_ = machine.network->links();
}

void Router::lead(const Traffic& traffic, std::span<const Member> members, Loads& beside,
                  std::vector<Use>& uses, std::vector<double>& latency) {
  const bool splits = machine_.routing == Routing::spray || machine_.routing == Routing::adaptive;
  latency.assign(traffic.flows.size(), 0);
  far_.clear();
  for (std::size_t f = 0; f < traffic.flows.size(); ++f) {
    const Flow& flow = traffic.flows[f];
    const Ends devices{members[std::size_t(flow.from)].device, members[std::size_t(flow.to)].device};
    if (splits && flow.bytes > 0 && machine_.node_of(devices.from) != machine_.node_of(devices.to))
      far_.push_back({f, {machine_.endpoint_of(devices.from), machine_.endpoint_of(devices.to)}});
    else single(flow, f, devices, uses, latency[f]);
  }
  if (far_.empty()) return;
  DLNB_REQUIRE(machine_.network, "two nodes are joined by a network");
  const std::size_t first = uses.size();
  if (machine_.routing == Routing::spray) spray(traffic, uses, latency);
  else adapt(traffic, beside, uses, latency);
  for (std::size_t u = first; u < uses.size(); ++u) uses[u].link += first_network_link_;
}

void Router::single(const Flow& flow, std::size_t number, Ends devices, std::vector<Use>& uses,
                    double& seconds) {
  route_.clear();
  machine_.route(devices.from, devices.to, number, route_);
  for (const LinkIndex link : route_) {
    seconds += latency(link);
    if (flow.bytes > 0) uses.push_back({link, flow.bytes});
  }
}

void Router::spray(const Traffic& traffic, std::vector<Use>& uses, std::vector<double>& latency) {
  const Fabric& network = *machine_.network;
  const std::size_t allowed = std::clamp<std::size_t>(most_routes / far_.size(), 1, most_sprayed);
  for (const auto& [number, ends] : far_) {
    const auto count = std::uint64_t(network.minimal_routes(ends.from, ends.to));
    const std::size_t parts = count <= allowed ? std::size_t(count) : power_below(allowed);
    const std::uint64_t seed = seed_of(ends.from, ends.to, number) % count, stride = stride_of(count);
    const double bytes = traffic.flows[number].bytes / double(parts);
    for (std::size_t part = 0; part < parts; ++part) {
      route_.clear();
      network.minimal_route(ends.from, ends.to, (seed + part * stride) % count, route_);
      for (const LinkIndex link : route_) uses.push_back({link, bytes});
      latency[number] += latency_of(route_) / double(parts);
    }
  }
}

void Router::adapt(const Traffic& traffic, Loads& loads, std::vector<Use>& uses,
                   std::vector<double>& latency) {
  const Fabric& network = *machine_.network;
  const std::size_t parts = power_below(std::min(most_routes / far_.size(), most_adaptive));
  double pace = 0;
  for (const auto& [number, ends] : far_) {
    route_.clear();
    network.minimal_route(ends.from, ends.to, 0, route_);
    const double bytes = traffic.flows[number].bytes;
    for (const LinkIndex link : {route_.front(), route_.back()}) {
      if (!is_port(link)) continue;
      loads.add(link, bytes / capacity(link));
      uses.push_back({link, bytes});
      pace = std::max(pace, loads.at(link));
    }
  }
  for (std::size_t part = 0; part < parts; ++part)
    for (const auto& [number, ends] : far_) {
      const double bytes = traffic.flows[number].bytes / double(parts);
      choose(ends, seed_of(ends.from, ends.to, number), part, loads, bytes, pace);
      for (const LinkIndex link : inside(best_)) {
        loads.add(link, bytes / capacity(link));
        uses.push_back({link, bytes});
      }
      latency[number] += latency_of(best_) / double(parts);
    }
}

// Leaves the cheapest route in best_.
void Router::choose(Ends ends, std::uint64_t seed, std::uint64_t part, const Loads& loads, double bytes,
                    double pace) {
  const Fabric& network = *machine_.network;
  const auto count = std::uint64_t(network.minimal_routes(ends.from, ends.to));
  const std::uint64_t stride = count > 1 ? stride_of(count) : 0;
  Cost least{};
  bool found = false;
  const auto consider = [&] {
    if (route_.empty()) return;
    const Cost cost = cost_of(route_, loads, bytes, pace);
    if (found && cost >= least) return;
    found = true;
    least = cost;
    best_.swap(route_);
  };
  for (std::uint64_t i = 0; i < std::min(most_candidates, count); ++i) {
    if (i >= least_candidates && least.queue <= 0) break;
    route_.clear();
    network.minimal_route(ends.from, ends.to, (seed % count + (least_candidates * part + i) * stride) % count,
                          route_);
    consider();
  }
  for (std::uint64_t i = 0; i < detour_candidates && least.queue > 0; ++i) {
    route_.clear();
    network.detour(ends.from, ends.to, mix(seed + detour_candidates * part + i), route_);
    consider();
  }
}

Router::Cost Router::cost_of(const std::vector<LinkIndex>& route, const Loads& loads, double bytes,
                             double pace) const {
  const std::span<const LinkIndex> links = inside(route);
  double most = 0;
  for (const LinkIndex link : links)
    most = std::max(most, loads.at(link) + bytes / capacity(link) + pace * taken(link));
  const double queue = most > pace * (1 + tolerance) ? most - pace : 0;
  return {queue * double(links.size()), most * double(links.size())};
}

bool Router::is_port(LinkIndex link) const {
  const LinkClass kind = in_network(link).link_class;
  return kind == LinkClass::nic || kind == LinkClass::device;
}

// The links between switches: without the ports at either end.
std::span<const LinkIndex> Router::inside(const std::vector<LinkIndex>& route) const {
  std::span<const LinkIndex> links = route;
  if (!links.empty() && is_port(links.front())) links = links.subspan(1);
  if (!links.empty() && is_port(links.back())) links = links.first(links.size() - 1);
  return links;
}

double Router::latency_of(const std::vector<LinkIndex>& route) const {
  double latency = 0;
  for (const LinkIndex link : route) latency += in_network(link).latency.value;
  return latency;
}

}  // namespace dlnb::sim
