// SPDX-License-Identifier: Apache-2.0
#include "peer/simgrid.hpp"

#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_map>
#include <utility>

#include <dlnb/collective.hpp>

namespace dlnb::peer {
namespace {

namespace sg4 = simgrid::s4u;

struct Edge {
  int from, to;
  double bytes;
};

/// The flows of a ring all-reduce between devices.
std::vector<Edge> ring_of(const Machine& machine, const RingJob& job) {
  std::vector<Member> members;
  for (const int device : job.devices)
    members.push_back(
        {device, machine.node_of(device), machine.nics_per_node > 0 ? machine.nic_of(device) : 0});
  const Collective& ring = entry_called(collectives::all(), "ring", "collective");
  std::vector<Edge> edges;
  for (const Flow& flow : ring.traffic(OperationKind::all_reduce, members, job.bytes).flows)
    edges.push_back({flow.from, flow.to, flow.bytes});
  return edges;
}

/// Every device a host, every direction of a cable a link, and a route for every pair that is used.
class Platform {
 public:
  // L07 has no max-min: by its "fair bottleneck" a task with two flows over a link is given half the rate of one with
  // one, where max-min per flow gives both the same.
  Platform(const Machine& machine, const std::string& model)
      : machine_(machine),
        words_{"simgrid", model, "--cfg=network/crosstraffic:no", "--log=root.thresh:error"} {
    for (std::string& word : words_) arguments_.push_back(word.data());
    int count = int(arguments_.size());
    engine_ = std::make_unique<sg4::Engine>(&count, arguments_.data());
    zone_ = sg4::create_full_zone("machine");
    for (int d = 0; d < machine.devices(); ++d) hosts_.push_back(zone_->create_host(std::to_string(d), 1e9));
    links_.resize(std::size_t(machine.links()));
  }

  /// `flow`: the number by which the machine spreads flows over equal paths.
  void route(int from, int to, std::uint64_t flow) {
    if (from == to || !known_.insert({{from, to}, flow}).second) return;
    route_.clear();
    machine_.route(from, to, flow, route_);
    route_over(from, to, route_);
  }
  /// A link that is crossed several times is given that weight.
  void route_over(int from, int to, const std::vector<LinkIndex>& crossed) {
    std::vector<sg4::LinkInRoute> links;
    for (const LinkIndex link : crossed) {
      sg4::Link*& known = links_[std::size_t(link)];
      if (known == nullptr)
        known = zone_
                    ->create_link(std::to_string(link),
                                  machine_.link(link).capacity.value * machine_.software.efficiency)
                    ->set_latency(0)
                    ->seal();
      links.emplace_back(known);
    }
    zone_->add_route(host(from)->get_netpoint(), host(to)->get_netpoint(), nullptr, nullptr, links, false);
  }

  sg4::Host* host(int device) const { return hosts_[std::size_t(device)]; }
  void run() {
    zone_->seal();
    engine_->run();
  }

 private:
  struct PairHash {
    std::size_t operator()(const std::pair<int, int>& pair) const {
      return std::hash<std::uint64_t>{}(std::uint64_t(pair.first) << 32 | std::uint32_t(pair.second));
    }
  };

  const Machine& machine_;
  std::vector<std::string> words_;
  std::vector<char*> arguments_;
  std::unique_ptr<sg4::Engine> engine_;
  sg4::NetZone* zone_ = nullptr;
  std::vector<sg4::Host*> hosts_;
  std::vector<sg4::Link*> links_;  ///< by number; null until used
  std::unordered_map<std::pair<int, int>, std::uint64_t, PairHash> known_;
  std::vector<LinkIndex> route_;
};

struct Rings {
  const Machine& machine;
  const std::vector<RingJob>& jobs;
};

void add_routes(Platform& platform, const std::vector<Edge>& edges, const RingJob& job) {
  for (std::size_t f = 0; f < edges.size(); ++f)
    platform.route(job.devices[std::size_t(edges[f].from)], job.devices[std::size_t(edges[f].to)], f);
}

std::vector<double> as_tasks(void* what, double& cpu) {
  const Rings& rings = *static_cast<Rings*>(what);
  Platform platform(rings.machine, "--cfg=host/model:ptask_L07");
  std::vector<double> end(rings.jobs.size());
  for (std::size_t j = 0; j < rings.jobs.size(); ++j) {
    const RingJob& job = rings.jobs[j];
    const std::size_t n = job.devices.size();
    std::vector<sg4::Host*> hosts;
    for (const int device : job.devices) hosts.push_back(platform.host(device));
    std::vector<double> bytes(n * n);
    const std::vector<Edge> edges = ring_of(rings.machine, job);
    for (const Edge& edge : edges) bytes[std::size_t(edge.from) * n + std::size_t(edge.to)] += edge.bytes;
    add_routes(platform, edges, job);
    sg4::Actor::create("job", hosts.front(), [&job, hosts, bytes, n, &done = end[j]] {
      for (const double seconds : job.compute) {
        sg4::this_actor::sleep_for(seconds);
        sg4::this_actor::parallel_execute(hosts, std::vector<double>(n), bytes);
      }
      done = sg4::Engine::get_clock();
    });
  }
  const double before = cpu_seconds();
  platform.run();
  cpu = cpu_seconds() - before;
  return end;
}

std::vector<double> as_flows(void* what, double& cpu) {
  const Rings& rings = *static_cast<Rings*>(what);
  Platform platform(rings.machine, "--cfg=network/model:CM02");
  std::vector<double> end(rings.jobs.size());
  for (std::size_t j = 0; j < rings.jobs.size(); ++j) {
    const RingJob& job = rings.jobs[j];
    std::vector<Edge> edges = ring_of(rings.machine, job);
    add_routes(platform, edges, job);
    for (Edge& edge : edges)
      edge.from = job.devices[std::size_t(edge.from)], edge.to = job.devices[std::size_t(edge.to)];
    sg4::Actor::create("job", platform.host(job.devices.front()), [&job, &platform, edges, &done = end[j]] {
      for (const double seconds : job.compute) {
        sg4::this_actor::sleep_for(seconds);
        std::vector<sg4::CommPtr> flows;
        for (const Edge& edge : edges)
          flows.push_back(sg4::Comm::sendto_async(platform.host(edge.from), platform.host(edge.to),
                                                  std::uint64_t(edge.bytes)));
        sg4::Comm::wait_all(flows);
      }
      done = sg4::Engine::get_clock();
    });
  }
  const double before = cpu_seconds();
  platform.run();
  cpu = cpu_seconds() - before;
  return end;
}

std::vector<double> as_coupled(void* what, double& cpu) {
  const Rings& rings = *static_cast<Rings*>(what);
  Platform platform(rings.machine, "--cfg=network/model:CM02");
  std::vector<double> end(rings.jobs.size());
  for (std::size_t j = 0; j < rings.jobs.size(); ++j) {
    const RingJob& job = rings.jobs[j];
    const std::vector<Edge> edges = ring_of(rings.machine, job);
    std::vector<LinkIndex> crossed;
    for (std::size_t f = 0; f < edges.size(); ++f)
      rings.machine.route(job.devices[std::size_t(edges[f].from)], job.devices[std::size_t(edges[f].to)], f,
                          crossed);
    const int from = job.devices[0], to = job.devices[1];
    platform.route_over(from, to, crossed);
    sg4::Actor::create("job", platform.host(from),
                       [&job, &platform, from, to, bytes = edges.front().bytes, &done = end[j]] {
                         for (const double seconds : job.compute) {
                           sg4::this_actor::sleep_for(seconds);
                           sg4::Comm::sendto(platform.host(from), platform.host(to), std::uint64_t(bytes));
                         }
                         done = sg4::Engine::get_clock();
                       });
  }
  const double before = cpu_seconds();
  platform.run();
  cpu = cpu_seconds() - before;
  return end;
}

struct Messages {
  const Machine& machine;
  const std::vector<Message>& messages;
};

std::vector<double> as_messages(void* what, double& cpu) {
  const Messages& given = *static_cast<Messages*>(what);
  Platform platform(given.machine, "--cfg=network/model:CM02");
  std::vector<double> end(given.messages.size());
  for (std::size_t m = 0; m < given.messages.size(); ++m) {
    const Message& message = given.messages[m];
    platform.route(message.from, message.to, 0);
    sg4::Actor::create("message", platform.host(message.from), [&platform, &message, &done = end[m]] {
      sg4::this_actor::sleep_until(message.start);
      sg4::Comm::sendto(platform.host(message.from), platform.host(message.to), std::uint64_t(message.bytes));
      done = sg4::Engine::get_clock();
    });
  }
  const double before = cpu_seconds();
  platform.run();
  cpu = cpu_seconds() - before;
  return end;
}

}  // namespace

std::optional<Outcome> simgrid_tasks(const Machine& machine, const std::vector<RingJob>& jobs, double limit) {
  Rings rings{machine, jobs};
  return in_own_process(limit, as_tasks, &rings);
}

std::optional<Outcome> simgrid_flows(const Machine& machine, const std::vector<RingJob>& jobs, double limit) {
  Rings rings{machine, jobs};
  return in_own_process(limit, as_flows, &rings);
}

std::optional<Outcome> simgrid_coupled(const Machine& machine, const std::vector<RingJob>& jobs,
                                       double limit) {
  Rings rings{machine, jobs};
  return in_own_process(limit, as_coupled, &rings);
}

std::optional<Outcome> simgrid_messages(const Machine& machine, const std::vector<Message>& messages) {
  Messages given{machine, messages};
  return in_own_process(60, as_messages, &given);
}

}  // namespace dlnb::peer
