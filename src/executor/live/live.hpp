// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/registry.hpp>
#include <dlnb/schedule.hpp>
#include <dlnb/spec.hpp>
#include <dlnb/trace.hpp>

namespace dlnb {

/// Runs the schedule live. Called in every rank's process (or once, for `threads`);
/// returns the merged trace on rank 0 and an empty optional on the others.
std::optional<Trace> run_live(const Schedule& schedule, const RunSpec& spec);

/// Whether this process already is a rank of a world that a launcher made (mpirun, srun).
bool inside_a_world();

/// Starts `ranks` copies of this command under the backend's own launcher and waits for them.
/// Returns the exit code of the run.
int launch(const RunSpec& spec, const std::vector<std::string>& command);

}  // namespace dlnb
