// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <dlnb/spec.hpp>

#include "cli/own_runs.hpp"

namespace dlnb {

/// What a live job measured without the others, and beside them.
struct LiveJob {
  std::string name;
  MeasuredRun alone, together;
  std::filesystem::path result;  ///< the result file of the run beside the others
};

/// Runs every job as a run of its own: one after the other, then all at once for at least twice as long as the longest of
/// these took. Of the runs at once the first and the last iteration are left out, which others may have missed. `given` is
/// what was typed; results are written into `folder`. Throws UserError for what only simulated jobs can do.
std::vector<LiveJob> measure_jobs(const Arguments& given, const std::vector<JobSpec>& jobs,
                                  const std::filesystem::path& folder);

/// The words of `run` for one job of what was typed (empty: the only one), with its result in `file`, for at least
/// `min_time` (0: as was typed).
std::vector<std::string> run_words(const Arguments& given, const std::string& job,
                                   const std::filesystem::path& file, Seconds min_time = {0});

/// Adds the job's name and slowdown to a result file.
void add_job(const std::filesystem::path& result, const std::string& job, const Slowdown& slowdown);

/// Writes the result files of jobs where --output says: one each, or one page.
void write_job_files(const Arguments& given, const std::vector<std::filesystem::path>& results,
                     const std::vector<JobSpec>& jobs);

}  // namespace dlnb
