// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gloo/context.h>
#include <gloo/transport/device.h>
#include <sys/types.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/live/module.hpp"
#include "executor/live/store.hpp"

namespace dlnb::over_gloo {

/// Where this rank listens, and how communicators come about: ranks tell each other the addresses through the store.
class Rendezvous {
 public:
  /// Listens on loopback only, unless an interface is named (GLOO_SOCKET_IFNAME) or the run was given hosts. Throws where
  /// ranks on different hosts could not reach each other so.
  explicit Rendezvous(const ModuleOptions& options);

  /// A full mesh of connections between these world ranks; null where it is one.
  std::shared_ptr<::gloo::Context> connect(std::span<const int> members);

  /// gloo's thread asks for a connection's data again and again while another thread uses the connection. Where that one
  /// has lost its core, often to the thread it has just woken, the two wait for each other at full load. As a batch
  /// thread it takes nobody's core when it wakes.
  void share_cores() const;

 private:
  void check_reachable();

  const int rank_;
  const std::string folder_;  // of the store; empty in a world of one
  std::shared_ptr<::gloo::transport::Device> device_;
  std::vector<pid_t> threads_;  // gloo's
  bool on_loopback_ = true;
  std::map<std::vector<int>, int> made_;
};

}  // namespace dlnb::over_gloo
