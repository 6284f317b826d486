// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlnb/document.hpp>

namespace dlnb {

/// Where endpoints hang: groups of first-level switches with `ports` endpoint ports each.
///
/// Endpoints fill the groups in order. Inside a group the `node_ports` endpoints of a node may be spread over
/// `node_switches` different switches: the first share of every node, node after node, then the second share,
/// … With one switch per node this is simply the endpoint's number divided by `ports`; with as many switches
/// as a node has ports it is the rail-optimised layout.
class Attachment {
 public:
  struct Shape {
    int groups = 1;
    int switches = 1;       ///< first-level switches in a group
    int ports = 1;          ///< endpoints on each
    int node_ports = 1;     ///< endpoints of one node
    int node_switches = 1;  ///< switches they are spread over
  };

  /// Throws UserError at `table` where the endpoints do not fit or a node cannot be spread so.
  Attachment(const Value& table, const Shape& shape, int endpoints);

  int group_of(int endpoint) const { return endpoint / group_ports_; }
  /// Counted over the whole machine.
  int switch_of(int endpoint) const {
    return group_of(endpoint) * switches_ + position_in_group(endpoint) / ports_;
  }

 private:
  int position_in_group(int endpoint) const {
    const int rest = endpoint % group_ports_;
    if (node_switches_ == 1) return rest;
    const int node = rest / node_ports_, port = rest % node_ports_;
    return port / share_ * (group_ports_ / node_switches_) + node * share_ + port % share_;
  }

  int switches_, ports_, node_ports_, node_switches_;
  int share_;        // a node's endpoints on one switch
  int group_ports_;  // of one group
};

}  // namespace dlnb
