// SPDX-License-Identifier: Apache-2.0
#include "machine/attachment.hpp"

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "machine/wiring.hpp"

namespace dlnb {

Attachment::Attachment(const Value& table, const Shape& shape, int endpoints)
    : switches_(shape.switches),
      ports_(shape.ports),
      node_ports_(shape.node_ports),
      node_switches_(shape.node_switches),
      share_(shape.node_ports / shape.node_switches) {
  const std::int64_t in_group = std::int64_t{switches_} * ports_;
  if (in_group > most_endpoints || in_group * shape.groups > most_endpoints)
    throw UserError(table.where(),
                    fmt::format("{} groups × {} switches × {} ports are more than {} endpoints", shape.groups,
                                switches_, ports_, most_endpoints));
  if (in_group * shape.groups < endpoints)
    throw UserError(table.where(),
                    fmt::format("{} endpoints do not fit {} groups × {} switches × {} ports = {}", endpoints,
                                shape.groups, switches_, ports_, in_group * shape.groups),
                    fmt::format("at most {} nodes fit: ask for fewer, or give the network more groups, "
                                "switches or ports",
                                in_group / node_ports_ * shape.groups));
  if (node_ports_ % node_switches_ != 0)
    throw UserError(table.where(),
                    fmt::format("node_ports = {} cannot be spread evenly over node_switches = {}",
                                node_ports_, node_switches_));
  if (node_switches_ > switches_)
    throw UserError(table.where(), fmt::format("node_switches = {}, but a group has only {} switches",
                                               node_switches_, switches_));
  if (in_group % node_ports_ != 0)
    throw UserError(table.where(), fmt::format("a group's {} ports do not hold whole nodes of {} ports",
                                               in_group, node_ports_));
  group_ports_ = int(in_group);
}

}  // namespace dlnb
