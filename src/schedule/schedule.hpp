// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <dlnb/collective.hpp>
#include <dlnb/options.hpp>
#include <dlnb/registry.hpp>
#include <dlnb/result.hpp>
#include <dlnb/schedule.hpp>

namespace dlnb {

/// How many micro-batches the plan cuts the batch into (1 where it has no pipeline).
std::int64_t microbatches_of(const PlanSpec& plan);

/// Applies the plan's passes to the step and checks the outcome.
/// Throws UserError where sizes do not divide or passes do not go together.
Schedule compile(const Step& step, const PlanSpec& plan, std::int64_t ranks);

/// The same schedule with message sizes and compute times multiplied; a label is added to its notes.
Schedule scaled(Schedule schedule, double message_scale, double compute_scale);

/// How collectives become messages.
struct LowerSpec {
  const Collective* algorithm = nullptr;  ///< for what it can do; otherwise, and where null: ring, pairwise
  std::vector<Member> members;            ///< where every rank sits; empty: all on one node
  std::string where;                      ///< what messages call this request
};

/// The same schedule with every collective as sends and receives; every rank has a program of its own. Throws UserError
/// where that cannot be done or takes more operations than are reasonable.
Schedule lower(const Schedule& schedule, const LowerSpec& spec);

/// Everything wrong with a schedule: unmatched messages, deadlock, collectives in different order, lost bytes.
/// Empty means sound. Each line names the operation.
std::vector<std::string> check(const Schedule& schedule);

Ledger ledger_of(const Schedule& schedule);

/// Text for people and golden files; one line per operation, one section per role.
std::string print_text(const Schedule& schedule, const std::vector<std::int64_t>& roles);
/// `ranks[].operations[]` in issue order (documented in docs/reference/schedule.md).
std::string print_json(const Schedule& schedule, const std::vector<std::int64_t>& ranks);
std::string print_csv(const Schedule& schedule, const std::vector<std::int64_t>& ranks);

}  // namespace dlnb
