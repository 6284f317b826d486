// SPDX-License-Identifier: Apache-2.0
// Small machines and schedules to calculate with.
#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <dlnb/machine.hpp>
#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>

namespace dlnb::world {

/// A switch: every endpoint has one cable up and one down.
class Star : public Fabric {
 public:
  Star(int endpoints, double capacity, double latency) : endpoints_(endpoints) {
    links_.assign(std::size_t(2 * endpoints), {{capacity}, {latency}, LinkClass::device});
  }
  int endpoints() const override { return endpoints_; }
  std::span<const Link> links() const override { return links_; }
  void route(int from, int to, std::uint64_t, std::vector<LinkIndex>& out) const override {
    if (from == to) return;
    out.push_back(2 * from);
    out.push_back(2 * to + 1);
  }

 private:
  int endpoints_;
  std::vector<Link> links_;
};

/// A cable from every endpoint to every other.
class Mesh : public Fabric {
 public:
  Mesh(int endpoints, double capacity, double latency) : endpoints_(endpoints) {
    links_.assign(std::size_t(endpoints * endpoints), {{capacity}, {latency}, LinkClass::node});
  }
  int endpoints() const override { return endpoints_; }
  std::span<const Link> links() const override { return links_; }
  void route(int from, int to, std::uint64_t, std::vector<LinkIndex>& out) const override {
    if (from != to) out.push_back(from * endpoints_ + to);
  }

 private:
  int endpoints_;
  std::vector<Link> links_;
};

/// Everything goes over the one link.
class Bus : public Fabric {
 public:
  Bus(int endpoints, double capacity, double latency)
      : endpoints_(endpoints), links_(1, {{capacity}, {latency}, LinkClass::node}) {}
  int endpoints() const override { return endpoints_; }
  std::span<const Link> links() const override { return links_; }
  void route(int from, int to, std::uint64_t, std::vector<LinkIndex>& out) const override {
    if (from != to) out.push_back(0);
  }

 private:
  int endpoints_;
  std::vector<Link> links_;
};

/// One node with this fabric between its devices.
template <class AnyFabric>
Machine one_node(AnyFabric fabric) {
  Machine machine;
  machine.name = "test";
  machine.devices_per_node = fabric.endpoints();
  machine.node_fabric = std::make_shared<AnyFabric>(std::move(fabric));
  return machine;
}

/// Nodes of `devices`, each device with a NIC of its own on one switch.
inline Machine cluster(int nodes, int devices, double node_capacity, double network_capacity,
                       double latency = 0) {
  Machine machine = one_node(Star(devices, node_capacity, 0));
  machine.nodes = nodes;
  machine.nics_per_node = devices;
  machine.network = std::make_shared<Star>(nodes * devices, network_capacity, latency);
  return machine;
}

inline Placement linear(const Schedule& schedule) {
  Placement placement(static_cast<std::size_t>(schedule.grid.ranks()));
  std::iota(placement.begin(), placement.end(), 0);
  return placement;
}

inline RunSpec spec(int iterations = 1, int warmup = 0) {
  RunSpec spec;
  spec.iterations = iterations;
  spec.warmup = warmup;
  return spec;
}

// --- operations ------------------------------------------------------------------------------------------

inline Operation compute(double seconds) {
  Operation operation;
  operation.cost.time = {seconds};
  return operation;
}

/// `bytes` is the larger side on one rank.
inline Operation collective(OperationKind kind, AxisSet axes, std::int64_t bytes,
                            std::int32_t handle = nothing) {
  Operation operation;
  operation.kind = kind;
  operation.axes = axes;
  operation.dtype = DataType::float8;
  operation.elements_sent = operation.elements_received = bytes;
  operation.blocking = handle == nothing;
  operation.handle = handle;
  return operation;
}
inline Operation all_reduce(AxisSet axes, std::int64_t bytes, std::int32_t handle = nothing) {
  return collective(OperationKind::all_reduce, axes, bytes, handle);
}

inline Operation message(OperationKind kind, AxisSet axis, std::int32_t peer, std::int64_t bytes,
                         std::int32_t handle = nothing) {
  Operation operation = collective(kind, axis, 0, handle);
  operation.peer = peer;
  (kind == OperationKind::send ? operation.elements_sent : operation.elements_received) = bytes;
  return operation;
}
inline Operation send(AxisSet axis, std::int32_t peer, std::int64_t bytes, std::int32_t handle = nothing) {
  return message(OperationKind::send, axis, peer, bytes, handle);
}
inline Operation recv(AxisSet axis, std::int32_t peer, std::int64_t bytes, std::int32_t handle = nothing) {
  return message(OperationKind::recv, axis, peer, bytes, handle);
}

inline Operation wait(AxisSet axes, std::int32_t handle) {
  Operation operation = collective(OperationKind::wait, axes, 0, handle);
  operation.blocking = true;
  return operation;
}
inline Operation wait_all(AxisSet axes) { return collective(OperationKind::wait_all, axes, 0); }

// --- schedules ------------------------------------------------------------------------------------------

/// All ranks do the same.
inline Schedule same(std::vector<Axis> axes, std::vector<Operation> operations) {
  Schedule schedule;
  schedule.grid = ProcessGrid(std::move(axes));
  schedule.programs.resize(1);
  schedule.programs[0].operations = std::move(operations);
  return schedule;
}

/// One program per coordinate on axis 0.
inline Schedule staged(std::vector<Axis> axes, std::vector<std::vector<Operation>> programs) {
  Schedule schedule;
  schedule.grid = ProcessGrid(std::move(axes));
  schedule.role_axis = 0;
  for (std::size_t role = 0; role < programs.size(); ++role)
    schedule.programs.push_back({std::int64_t(role), std::move(programs[role]), 0});
  return schedule;
}

/// Seconds.
inline double at(std::int64_t nanoseconds) { return double(nanoseconds) * 1e-9; }

}  // namespace dlnb::world
