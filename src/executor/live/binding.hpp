// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dlnb/schedule.hpp>

#include "executor/live/transport.hpp"

namespace dlnb {

/// What a rank does for one operation of its program, with everything looked up in advance.
struct Action {
  enum class What : std::uint8_t {
    skip,  ///< a collective of one rank, a wait for what has been waited for
    compute,
    run,    ///< blocking transfer
    start,  ///< non-blocking transfer, in `slot`
    wait,   ///< for `waited[first_waited … + waited_count)`
    fault,  ///< on purpose (fault.hpp)
  };

  What what = What::skip;
  std::int64_t asked = 0;  ///< compute: ns
  Transfer transfer;
  int lane = 0;  ///< whose buffers it uses
  bool in_place = false;
  int slot = 0;
  int first_waited = 0, waited_count = 0;
};

/// Which operation a wait finishes, and in which slot it is.
struct Waited {
  int operation = 0;
  int slot = 0;
};

/// One send and one receive buffer; transfers that can be outstanding at once never share a lane.
struct Lane {
  std::int64_t send_bytes = 0;
  std::int64_t receive_bytes = 0;
  std::int64_t reduced_bytes = 0;  ///< largest reduction in it
};

/// The program of one rank, made ready to run. Communicators are numbered 0 … groups.size() − 1 here.
struct Binding {
  std::vector<Operation> operations;  ///< execution order
  std::vector<Action> actions;        ///< one per operation
  std::vector<Waited> waited;
  /// Members of communicator 0 (all ranks, for messages) and of those that collectives use.
  std::vector<std::vector<int>> groups;
  std::vector<AxisSet> group_axes;  ///< of each; 0 for communicator 0
  std::vector<Lane> lanes;
  int slots = 0;

  /// Whom messages of this kind, send or recv, go to or come from, ascending.
  std::vector<int> peers(OperationKind kind) const;
  std::int64_t buffer_bytes() const;
  /// What libraries take besides: a reduction keeps about one more copy of its data while under way.
  std::int64_t library_bytes() const;
};

/// Throws Unavailable where the schedule has an operation that no live backend carries out.
void refuse_unsupported(const Schedule& schedule);

/// Aborts (our mistake) on a schedule that the checker or `refuse_unsupported` should have refused.
Binding bind(const Schedule& schedule, std::int64_t rank, bool all_reduce_in_place);

/// "all-reduce over data (operation 12, layer 3, micro-batch 2)"
std::string describe(const Schedule& schedule, const Operation& operation, std::size_t index);

}  // namespace dlnb
