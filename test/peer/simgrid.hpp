// SPDX-License-Identifier: Apache-2.0
// SimGrid as a peer: the same activities over the same links and routes as a modelled machine has. Latencies are left
// out on both sides: how bandwidth is shared is what is compared.
#pragma once

#include <optional>
#include <vector>

#include <dlnb/machine.hpp>

namespace dlnb::peer {

/// Rounds of computing and then one ring all-reduce of all members, which both simulators know.
struct RingJob {
  Placement devices;
  std::vector<double> compute;  ///< seconds, by round
  double bytes = 0;             ///< of the vector
};

/// One message; begins when asked to.
struct Message {
  int from = 0, to = 0;  ///< devices
  double start = 0;      ///< seconds
  double bytes = 0;
};

struct Outcome {
  std::vector<double> end;    ///< seconds, by job or message
  double cpu = 0;             ///< CPU seconds of simulating, the platform's construction left out
  double peak_megabytes = 0;  ///< of the process
};

/// Parallel tasks (L07): an all-reduce is one task whose flows progress together. In a process of its own, because
/// SimGrid can be started once; nothing where it is not done in `limit` seconds of CPU time.
std::optional<Outcome> simgrid_tasks(const Machine& machine, const std::vector<RingJob>& jobs,
                                     double limit = 600);
/// The same, every edge of a ring a flow of its own (CM02): each goes as fast as it can.
std::optional<Outcome> simgrid_flows(const Machine& machine, const std::vector<RingJob>& jobs,
                                     double limit = 600);
/// The same, every all-reduce one flow (CM02) over all links of its ring, as often as it crosses them: the model that
/// ours is, solved by SimGrid. Rings of equal edges only.
std::optional<Outcome> simgrid_coupled(const Machine& machine, const std::vector<RingJob>& jobs,
                                       double limit = 600);
/// Messages as flows (CM02).
std::optional<Outcome> simgrid_messages(const Machine& machine, const std::vector<Message>& messages);

/// Runs `simulate`, which gives the ends, in a process of its own and measures it.
std::optional<Outcome> in_own_process(double limit, std::vector<double> (*simulate)(void*, double& cpu),
                                      void* what);
/// CPU seconds of this process so far.
double cpu_seconds();

}  // namespace dlnb::peer
