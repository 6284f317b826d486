// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <dlnb/collective.hpp>
#include <dlnb/run.hpp>  // make_schedule, simulate, run and coll, which pipeline.cpp defines

namespace dlnb {

/// The schedule with its collectives as messages where `spec.lower` asks for that. `members`: where every rank sits;
/// empty: all on one node. Throws UserError.
Schedule lowered(const Schedule& schedule, const RunSpec& spec, std::vector<Member> members);

/// Starts the ranks of a live run as copies of this command and waits for them; returns its exit code.
int start_ranks(const RunSpec& spec, const std::vector<std::string>& command,
                const OnPartialResult& on_partial);
/// The same of a collective benchmark.
int start_ranks(const CollSpec& spec, const std::vector<std::string>& command,
                const OnPartialCollTable& on_partial);

}  // namespace dlnb
