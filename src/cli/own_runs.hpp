// SPDX-License-Identifier: Apache-2.0
// Commands that measure by running this program again, as a user would: `run` of several jobs, `validate`, `calibrate`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <dlnb/coll.hpp>
#include <dlnb/metrics.hpp>

#include "cli/command.hpp"

namespace dlnb {

/// Starts this program once for each list of words, all at the same time, with stdout closed, and waits for all. Where
/// one fails, or a signal asks for the end, all are asked to end, again every two seconds. Throws LostRank, UserError, …
/// with the exit code of the first that failed, which has said why on stderr, and LostRank after a signal. With
/// `keep_invalid` a result that is INVALID is none of these failures: it is there and says so itself.
void run_again(const std::vector<std::vector<std::string>>& commands, bool keep_invalid);

/// What was typed for these arguments, as words again; without `except`.
std::vector<std::string> words_of(const Arguments& given, const std::vector<Argument>& arguments,
                                  const std::vector<std::string>& except);

/// What the results of other runs say. Throw UserError where the file is none.
struct MeasuredRun {
  std::vector<IterationRow> iterations;
  std::vector<OperationRow> operations;  ///< axis, kind, bytes and median time only
  bool valid = true;
};
MeasuredRun read_result(const std::filesystem::path& file);
/// The rows' operation, ranks, type, bytes and time, in a table of this spec.
CollTable read_coll_table(const std::filesystem::path& file, const CollSpec& spec);

}  // namespace dlnb
