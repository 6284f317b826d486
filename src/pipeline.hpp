// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <dlnb/run.hpp>  // make_schedule, simulate, run and coll, which pipeline.cpp defines

namespace dlnb {

/// Starts the ranks of a live run as copies of this command and waits for them; returns its exit code.
int start_ranks(const RunSpec& spec, const std::vector<std::string>& command,
                const OnPartialResult& on_partial);

}  // namespace dlnb
