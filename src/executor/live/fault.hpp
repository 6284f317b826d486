// SPDX-License-Identifier: Apache-2.0
// Faults on purpose: what a run does when a rank is lost can be tried with any plan, in any operation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <dlnb/schedule.hpp>

#include "executor/live/binding.hpp"

namespace dlnb {

/// DLNETBENCH_FAULT="kill|stop|slow:SECONDS rank=R [operation=K] [iteration=I]": what happens to one rank when it comes
/// to its operation K (execution order) in iteration I (measured, from 0). "… rank=R at=start": before it joins the others.
struct Fault {
  enum class What : std::uint8_t { kill, stop, slow };

  What what = What::kill;
  double seconds = 0;
  std::int64_t rank = 0, operation = 0, iteration = 0;
  bool at_start = false;
};

/// Throws UserError.
Fault parse_fault(std::string_view text);
/// The environment's; nothing where there is none. Throws UserError where it does not fit the schedule, and where
/// ranks that are threads are to be killed, or struck at the start, which they have in common.
std::optional<Fault> fault_asked(const Schedule& schedule, bool ranks_are_threads);
/// The same where it is not known yet what each rank carries out.
std::optional<Fault> fault_asked(std::int64_t ranks, bool ranks_are_threads);
/// Throws UserError where the rank has no such operation.
void check_operation(const Fault& fault, std::int64_t operations);

/// Puts the fault in the place of the action it strikes at, so that others do not have to look for it; returns what
/// was there.
Action plant(Binding& binding, const Fault& fault);

/// Throws UserError where that iteration is not measured.
void check_iteration(const Fault& fault, std::int64_t iterations);

struct RankOptions;
/// Does it to the calling rank. Throws LostRank where the rank is a thread whose world is over.
void strike(const Fault& fault, const RankOptions& options);

}  // namespace dlnb
