// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <dlnb/result.hpp>

#include "cli/command.hpp"

namespace dlnb {

/// Throws UserError where `file` could not be written later: unknown extension, no such folder, a folder
/// itself, no permission. Asked before the work, not after it.
void check_writable(const std::filesystem::path& file, const std::vector<std::string>& extensions);

/// --output and --json of the commands that make a result.
std::vector<Argument> result_arguments();

/// The check of these before the work.
void check_result_output(const Arguments& given);

/// The file of one job of several: "out.json" → "out.a.json".
std::filesystem::path file_of_job(const std::filesystem::path& file, const std::string& job);

/// One job of several, for the table.
struct JobOutcome {
  std::string name, plan, model;
  std::int64_t ranks = 0;
  Slowdown slowdown;
};
std::string slowdown_table(const std::vector<JobOutcome>& jobs);

/// The same for jobs that ran side by side: one file for each ("out.a.json" for job `a`; .html: one page), then a table
/// of their slowdowns on stdout, or an array of the results as JSON.
void write_results(const Arguments& given, const std::vector<Result>& jobs);

/// Carries out `work`. Where a rank is lost in it, the error says as well what was `kept` of what was measured before;
/// empty: nothing was.
int telling_what_was_kept(const std::string& kept, const std::function<int()>& work);
/// "what was measured before, 3 rows, is in out.json and on stdout"
std::string kept_text(const std::string& what, const std::filesystem::path& file);

/// Writes the file by its extension, then JSON or the summary to stdout.
void put_result(const Arguments& given, const Result& result);
/// The same. Throws WrongResult after that where the result is INVALID.
void write_result(const Arguments& given, const Result& result);

}  // namespace dlnb
