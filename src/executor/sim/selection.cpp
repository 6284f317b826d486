// SPDX-License-Identifier: Apache-2.0
#include "executor/sim/selection.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

#include <dlnb/error.hpp>

namespace dlnb::sim {
namespace {

bool can_do(const Collective& algorithm, OperationKind kind, const GroupShape& shape) {
  return algorithm.handles(kind) && (algorithm.fits == nullptr || algorithm.fits(kind, shape));
}

/// Bus bandwidth = bytes / time · this (nccl-tests, doc/PERFORMANCE.md).
double bus_factor(OperationKind kind, double n) {
  switch (kind) {
    case OperationKind::all_reduce: return 2 * (n - 1) / n;
    case OperationKind::all_gather:
    case OperationKind::reduce_scatter:
    case OperationKind::all_to_all: return (n - 1) / n;
    default: return 1;
  }
}

/// Seconds per byte of the operation where the links are all that counts.
double time_on_links(const Load& load, double device_rate, double nic_rate) {
  const double device = device_rate > 0 ? load.device / device_rate : 0;
  const double nic = nic_rate > 0 ? load.nic / nic_rate : 0;
  return std::max(device, nic);
}

}  // namespace

Selection::Selection(const Machine& machine) : machine_(machine) {
  const Software& software = machine.software;
  if (!software.forced.empty()) forced_ = find(software.forced, software.forced_where);
  for (const TuningRule& rule : software.tuning) rules_.push_back({&rule, find(rule.algorithm, rule.where)});
  if (machine.nodes < 2) return;
  std::vector<LinkIndex> route;
  machine.route(0, machine.devices_per_node, 0, route);
  // The cables at both ends; the network's links are numbered behind those of all nodes.
  const LinkIndex first = machine.links() - LinkIndex(machine.network->links().size());
  std::erase_if(route, [&](LinkIndex link) { return link < first; });
  if (!route.empty())
    nic_rate_ = std::min(machine.link(route.front()).capacity, machine.link(route.back()).capacity).value;
}

Selection::Named Selection::find(const std::string& text, const std::string& where) {
  const std::size_t slash = text.find('/');
  Named named;
  named.algorithm = &entry_called(collectives::all(), text.substr(0, slash), where);
  if (slash == std::string::npos) return named;
  named.any_protocol = false;
  std::vector<std::string> known;
  for (int p = 0; p < protocols; ++p) {
    named.protocol = Protocol(p);
    known.emplace_back(name_of(named.protocol));
    if (text.substr(slash + 1) == known.back()) return named;
  }
  throw UserError(where, fmt::format("no protocol is called '{}'", text.substr(slash + 1)),
                  choose_one_of(text.substr(slash + 1), known));
}

/// What the first member has to the others of its node, and the NIC.
Selection::Rates Selection::rates(std::span<const Member> members) const {
  std::vector<LinkIndex> first_links, route;
  for (const Member& member : members.subspan(1)) {
    if (member.node != members.front().node) continue;
    route.clear();
    machine_.route(members.front().device, member.device, 0, route);
    if (!route.empty() && std::ranges::find(first_links, route.front()) == first_links.end())
      first_links.push_back(route.front());
  }
  Rates rates{0, nic_rate_};
  for (const LinkIndex link : first_links) rates.device += machine_.link(link).capacity.value;
  return rates;
}

bool Selection::may_use(Protocol protocol, const GroupShape& shape) const {
  return shape.nodes == 1 || (machine_.software.network_protocols >> int(protocol) & 1) != 0;
}

double Selection::latency(const TuningCost& cost, const Steps& steps, const GroupShape& shape) {
  if (shape.nodes > 1 && cost.mean_step.value > 0)
    return cost.start.value + (steps.node + steps.network) * cost.mean_step.value;
  const double node =
      shape.nodes > 1 ? std::max(cost.node_step, cost.least_step).value : cost.node_step.value;
  return cost.start.value + steps.node * node + steps.network * cost.network_step.value;
}

Choice Selection::with(const Collective& algorithm, const TuningCost* cost, OperationKind kind,
                       const GroupShape& shape, const Rates& rates) const {
  if (cost == nullptr) return {&algorithm, nullptr, 1};
  Choice choice{&algorithm, cost, cost->bandwidth.at(shape.nodes)};
  // The links' efficiency comes on top; a protocol's limit is of what is achieved.
  const double inside = machine_.software.efficiency_of(LinkClass::node);
  const double seconds = time_on_links(algorithm.load(kind, shape), rates.device * inside,
                                       rates.nic * machine_.software.efficiency);
  if (seconds > 0)
    for (const ProtocolLimit& limit : machine_.software.library->limits)
      if (limit.protocol == cost->protocol &&
          std::ranges::find(limit.devices, machine_.device.name) != limit.devices.end())
        choice.bandwidth = std::min(
            choice.bandwidth, limit.most.at(shape.nodes).value * seconds / bus_factor(kind, shape.members));
  return choice;
}

double Selection::guess(const Collective& algorithm, const TuningCost& cost, OperationKind kind,
                        const GroupShape& shape, const Rates& rates, double bytes) const {
  double start = latency(cost, algorithm.steps(kind, shape), shape);
  if (shape.nodes > 1 && bytes >= double(cost.plateau_from.value) * shape.members) start *= cost.plateau;
  double bandwidth = with(algorithm, &cost, kind, shape, rates).bandwidth;
  const std::size_t size = bytes < 64 ? 0 : std::size_t(std::bit_width(std::uint64_t(bytes) / 64) - 1);
  if (size < cost.size_correction.size()) bandwidth *= cost.size_correction[size];
  return start + bytes * time_on_links(algorithm.load(kind, shape), rates.device, rates.nic) / bandwidth;
}

/// The library's guess among all its algorithms and protocols, or these; empty where it knows none for this.
std::vector<Choice> Selection::guessed(const Collective* only, const Protocol* protocol, OperationKind kind,
                                       const GroupShape& shape, const Rates& rates, double bytes) const {
  const Library& library = *machine_.software.library;
  double best = std::numeric_limits<double>::infinity();
  std::vector<Choice> chosen;
  for (const TuningCost& cost : library.costs) {
    if (protocol != nullptr ? cost.protocol != *protocol : !may_use(cost.protocol, shape)) continue;
    for (const Collective* algorithm : collectives::all()) {
      if (only != nullptr ? algorithm != only : algorithm->tuning_name() != cost.algorithm) continue;
      if (algorithm->tuning_name() != cost.algorithm || !can_do(*algorithm, kind, shape)) continue;
      const double seconds = guess(*algorithm, cost, kind, shape, rates, bytes);
      // Layouts of one algorithm are guessed alike; the machine tells them apart.
      if (seconds > best) continue;
      if (seconds < best || chosen.front().algorithm->tuning_name() != algorithm->tuning_name())
        chosen.clear();
      best = seconds;
      const TuningCost* own = machine_.software.tuned_cost(cost.algorithm, cost.protocol);
      chosen.push_back(with(*algorithm, own, kind, shape, rates));
    }
  }
  return chosen;
}

std::vector<Choice> Selection::named(const Named& which, OperationKind kind, const GroupShape& shape,
                                     const Rates& rates, double bytes) const {
  if (which.algorithm == nullptr || !can_do(*which.algorithm, kind, shape)) return {};
  if (machine_.software.library)
    if (auto chosen = guessed(which.algorithm, which.any_protocol ? nullptr : &which.protocol, kind, shape,
                              rates, bytes);
        !chosen.empty())
      return chosen;
  // What the library does not have would take it what its ring takes.
  const TuningCost* cost = machine_.software.tuned_cost("ring", Protocol::simple);
  return {with(*which.algorithm, cost, kind, shape, rates)};
}

std::vector<Choice> Selection::choices(OperationKind kind, std::span<const Member> members,
                                       double bytes) const {
  GroupShape shape = shape_of(members);
  shape.node_reduces = machine_.software.node_reduces;
  shape.network_reduces = machine_.software.network_reduces;
  // Of interest to a library's model only.
  const Rates nominal = machine_.software.library ? rates(members) : Rates{};
  if (auto chosen = named(forced_, kind, shape, nominal, bytes); !chosen.empty()) return chosen;
  for (const Rule& rule : rules_) {
    const TuningRule& limits = *rule.limits;
    if (!limits.operation.empty() && limits.operation != name_of(kind)) continue;
    if (bytes > double(limits.max_size.value) || shape.members > limits.max_ranks ||
        shape.nodes > limits.max_nodes)
      continue;
    if (auto chosen = named(rule.named, kind, shape, nominal, bytes); !chosen.empty()) return chosen;
  }
  if (machine_.software.library)
    if (auto chosen = guessed(nullptr, nullptr, kind, shape, nominal, bytes); !chosen.empty()) return chosen;
  std::vector<Choice> usual;
  for (const Collective* algorithm : collectives::all())
    if (algorithm->is_usual && can_do(*algorithm, kind, shape))
      usual.push_back(with(*algorithm, nullptr, kind, shape, nominal));
  // The ring is the one of equals.
  std::ranges::stable_partition(usual, [](const Choice& choice) { return choice.algorithm->name == "ring"; });
  return usual;
}

}  // namespace dlnb::sim
