// SPDX-License-Identifier: Apache-2.0
// The whole line as functions: what the program's commands call, and what other programs link for.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <dlnb/calibration.hpp>
#include <dlnb/coll.hpp>
#include <dlnb/document.hpp>
#include <dlnb/result.hpp>
#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>

namespace dlnb {

/// One value from the command line.
struct Assignment {
  std::string key;    ///< "ranks" or a dotted path, "plan.pipeline.stages"
  std::string text;   ///< as typed
  std::string where;  ///< "--ranks", "--set plan.pipeline.stages": what messages call it
};

/// The command line's values as one tree for `read_spec`; later ones win, and `plan` as a whole goes before
/// members of it. Throws UserError.
Value make_overrides(const std::vector<Assignment>& assignments);

/// What the user asked for: the files in order, then the overrides, each laid over the ones before it.
///   `plan` is a shipped plan's name, a plan file, a composition ("tensor=4,pipeline=8,data=rest") or a table
///   of passes. A name or composition replaces the plan of earlier layers; a table without `name` changes it.
///   `scale` stands for `message_scale` and `compute_scale`, unless the same layer gives those too.
///   `gradient_dtype` follows `dtype` where it is not given.
///   `flavour` is the plan's own where it is "auto": paper for the shipped plans, pytorch for compositions.
///   Paths in a file are relative to that file.
/// Throws UserError with file:line or option for unknown keys, wrong types, values out of range.
RunSpec read_spec(const std::vector<std::filesystem::path>& spec_files, const Value& overrides);

/// What the user asked for where files may have `[[job]]` tables: their members are `name`, `start`, `repeat` and those of
/// a spec; what stands above them holds for all jobs, and the overrides are laid over each. Without such tables one job
/// without a name. Throws UserError as `read_spec`, and where two jobs have one name.
std::vector<JobSpec> read_jobs(const std::vector<std::filesystem::path>& spec_files, const Value& overrides);

/// RunSpec → Schedule, for `schedule print|check|ledger` and as the first half of both runs.
Schedule make_schedule(const RunSpec& spec);

/// The whole line, simulated.
Result simulate(const RunSpec& spec);

/// The collective benchmark on a simulated machine.
CollTable simulate(const CollSpec& spec);

/// The costs for which a machine of this structure (a machine file) comes nearest to what was measured on it.
Calibration calibrate(const std::string& machine, const std::vector<CollTable>& measured);

/// The whole line for jobs side by side on one simulated machine, which all of them name; each result has its slowdown
/// against the same job alone at the same place.
std::vector<Result> simulate(const std::vector<JobSpec>& jobs);
/// Takes the result of a run that was not finished: INVALID where ranks were lost, valid where a run without end was
/// left in the middle of an iteration. Called in one process, in any thread.
using OnPartialResult = std::function<void(const Result&)>;

/// The whole line, live; called on every rank, a result on rank 0 only.
std::optional<Result> run(const RunSpec& spec, const OnPartialResult& on_partial = {});

/// Takes the rows that were measured before ranks were lost. Called in one process, in any thread.
using OnPartialCollTable = std::function<void(const CollTable&)>;

/// The collective benchmark, live; called on every rank, a table on rank 0 only.
std::optional<CollTable> coll(const CollSpec& spec, const OnPartialCollTable& on_partial = {});

}  // namespace dlnb
