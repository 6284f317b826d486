// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/coll.hpp>
#include <dlnb/registry.hpp>
#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>
#include <dlnb/trace.hpp>

namespace dlnb {

/// Takes what was measured before a run was lost, which is INVALID, or left in the middle of an iteration.
using OnPartial = std::function<void(const Trace&)>;

/// Runs the schedule live. Called in every rank's process (or once, for `threads`);
/// returns the merged trace on rank 0 and an empty optional on the others.
/// Errors are agreed on: every rank throws the same one. `on_partial` is called in one process at most, in any thread;
/// where a process of ours has started the ranks, not here but in `launch`.
std::optional<Trace> run_live(const Schedule& schedule, const RunSpec& spec,
                              const OnPartial& on_partial = {});

/// Takes the rows that were measured before ranks were lost.
using OnPartialTable = std::function<void(const CollTable&)>;

/// Runs the collective benchmark live: called and answering as run_live does.
std::optional<CollTable> run_coll(const CollSpec& spec, const OnPartialTable& on_partial = {});

/// Whether this process already is a rank of a world that a launcher made (mpirun, srun).
bool inside_a_world();

/// How many ranks that world has; 0 where there is none or it does not tell.
int launched_ranks();

/// Whether this process should talk: rank 0 of a world, or no rank at all.
bool is_first_rank();

/// For a rank that is about to end with an error on which all have agreed: where it is not the first, gives that one a
/// second to say it. A launcher ends all ranks as soon as one has ended with an error.
void let_first_rank_speak();

/// Whether ranks of this backend are processes that a launcher has to start (`threads` are not).
/// Throws UserError where no backend is called so.
bool needs_launcher(const std::string& backend);

/// Starts `ranks` copies of this command under the backend's own launcher and waits for them.
/// Returns the exit code of the run. SIGINT, SIGTERM and SIGUSR1 ask the ranks to end after the current
/// iteration; a second one ends them at once. Throws UserError (no such backend), Unavailable (library or launcher
/// absent) and LostRank (a rank was killed, crashed or hung, which the message names).
int launch(const Schedule& schedule, const RunSpec& spec, const std::vector<std::string>& command,
           const OnPartial& on_partial = {});
/// The same where nothing is to be kept of what is lost, and ranks have no flight recorders.
int launch(const RunSpec& spec, const std::vector<std::string>& command);
int launch(const CollSpec& spec, const std::vector<std::string>& command,
           const OnPartialTable& on_partial = {});

}  // namespace dlnb
