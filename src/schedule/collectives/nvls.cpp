// SPDX-License-Identifier: Apache-2.0
// All-reduce in the switches of a node (NVLink SHARP): every device owns 1/n of the vector, reads the sum of all
// devices' values of it through the switch and writes it back to all at once.
//   a device sends its vector once to be read, S, and its part of the result, S/n; it receives as much: S(1 + 1/n) per
//   direction instead of the 2(n-1)/n · S of a ring; the steps are one round trip
// Source: B. Klenk, N. Jiang, G. Thorson, L. Dennison, "An In-Network Architecture for Accelerating Shared-Memory
// Multiprocessor Collectives", ISCA 2020; NVIDIA, NCCL 2.17 and later, NVLS.
// Flows go from device to device, since switches are no ends here: from each to the next, which loads everybody's port
// as above. That is right on a switch; on direct cables there is nothing to reduce in.
#include "rails.hpp"

namespace dlnb::collectives {
namespace {

bool handles(OperationKind kind) {
  return kind == OperationKind::all_reduce || kind == OperationKind::barrier;
}

// NCCL leaves pairs to rings.
bool fits(OperationKind, const GroupShape& shape) {
  return shape.node_reduces && shape.nodes == 1 && shape.members > 2;
}

Traffic traffic(OperationKind kind, std::span<const Member> members, double bytes) {
  const int n = int(members.size());
  if (n < 2) return {};
  const double each = kind == OperationKind::barrier ? 0 : bytes * (1 + 1.0 / n);
  Traffic traffic{{}, 1};
  for (int i = 0; i < n; ++i) traffic.flows.push_back({i, (i + 1) % n, each});
  return traffic;
}

Steps steps(OperationKind, const GroupShape&) { return {1, 0}; }

Load load(OperationKind kind, const GroupShape& shape) {
  return {kind == OperationKind::barrier ? 0 : 1 + 1.0 / shape.members, 0};
}

}  // namespace

extern constinit const Collective nvls{
    .name = "nvls",
    .summary = "all-reduce in the switches of one node",
    .handles = handles,
    .fits = fits,
    .traffic = traffic,
    .steps = steps,
    .load = load,
};

}  // namespace dlnb::collectives
