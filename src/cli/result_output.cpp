// SPDX-License-Identifier: Apache-2.0
#include "cli/result_output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

#include "cli/output.hpp"
#include "cli/table.hpp"
#include "cli/temporary_folder.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "report/report.hpp"
#include "report/web_page.hpp"

namespace dlnb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view where = "--output";

const std::vector<std::string>& extensions() {
  static const std::vector<std::string> all{".json", ".csv", ".html", ".txt", ".perfetto"};
  return all;
}

std::string written(const Result& result, std::string_view format) {
  return entry_called(formats::all(), format, where).write(result);
}

std::string page_of(std::span<const Result> results, const fs::path& file) {
  const TemporaryFolder folder;
  std::vector<fs::path> all;
  for (const Result& result : results) {
    all.push_back(file_of_job(folder.path() / file.filename().replace_extension(".json"), result.job));
    write_file(all.back(), written(result, "json"));
  }
  return html_report(all);
}

std::string text_for(const Result& result, const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".html") return page_of({&result, 1}, file);
  return written(result, extension == ".txt" ? "text" : extension.substr(1));
}

}  // namespace

fs::path file_of_job(const fs::path& file, const std::string& job) {
  fs::path own = file;
  return own.replace_extension((job.empty() ? "" : "." + job) + file.extension().string());
}

void check_writable(const fs::path& file, const std::vector<std::string>& allowed) {
  const std::string name = in_quotes(file.string());
  std::error_code failure;
  if (fs::is_directory(file, failure)) throw UserError(where, name + " is a folder", "name a file in it");
  if (std::ranges::find(allowed, file.extension().string()) == allowed.end())
    throw UserError(
        where, fmt::format("what to write follows from the extension, and {} has none that is known", name),
        fmt::format("choose one of: {}", fmt::join(allowed, ", ")));
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, failure))
    throw UserError(where, fmt::format("there is no folder {}", in_quotes(folder.string())), "make it first");
  // The file is replaced by renaming a new one over it, so it is the folder that has to be writable.
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw UserError(
        where, fmt::format("cannot write into {}: {}", in_quotes(folder.string()), std::strerror(errno)));
}

std::vector<Argument> result_arguments() {
  return {
      {.name = "--output",
       .short_name = "-o",
       .value = "FILE",
       .help =
           "write the result: .json, .csv, .html, .txt or .perfetto (ui.perfetto.dev); - is JSON on stdout",
       .group = "Result"},
      {.name = "--json", .help = "JSON instead of the summary on stdout", .group = "Result"},
  };
}

void check_result_output(const Arguments& given) {
  const std::string output = given.text("--output", "-");
  if (output == "-") return;
  check_writable(output, extensions());
  if (fs::path(output).extension() == ".html") web_page();  // a build without it says so now
}

std::string slowdown_table(const std::vector<JobOutcome>& jobs) {
  Table table{
      {"job", "plan", "model", "ranks", "alone", "together", "slowdown", "transfer", "straggler", "bubble"},
      {}};
  const auto added = [](std::int64_t nanoseconds) {
    const std::string text = to_text(Seconds{std::abs(double(nanoseconds)) * 1e-9});
    return (nanoseconds < 0 ? "-" : "+") + text;
  };
  for (const JobOutcome& job : jobs)
    table.rows.push_back({job.name, job.plan, job.model, fmt::format("{}", job.ranks),
                          to_text(Seconds{job.slowdown.alone}), to_text(Seconds{job.slowdown.together}),
                          fmt::format("{:.2f} x", job.slowdown.value.value),
                          added(job.slowdown.added.transfer), added(job.slowdown.added.straggler_wait),
                          added(job.slowdown.added.pipeline_bubble)});
  return to_text(table) +
         "\ntransfer, straggler, bubble: by how much an iteration of the slowest rank waits longer for "
         "each\n";
}

void write_results(const Arguments& given, const std::vector<Result>& jobs) {
  progress::clear();
  const std::string output = given.text("--output");
  if (fs::path(output).extension() == ".html") {
    write_file(output, page_of(jobs, output));
    log::info(fmt::format("wrote {}", output));
  } else if (!output.empty() && output != "-") {
    for (const Result& job : jobs) {
      const fs::path file = file_of_job(output, job.job);
      write_file(file, text_for(job, file));
      log::info(fmt::format("wrote {}", file.string()));
    }
  }
  if (given.has("--json") || output == "-") {
    std::string text;
    for (const Result& job : jobs) text += (text.empty() ? "[" : ",\n") + written(job, "json");
    print(text + "]\n");
  } else {
    std::vector<JobOutcome> outcomes;
    for (const Result& job : jobs)
      if (job.slowdown)
        outcomes.push_back({job.job, job.spec.plan.name, job.spec.model, job.spec.ranks, *job.slowdown});
    print(slowdown_table(outcomes));
  }
  const auto invalid = std::ranges::find(jobs, false, &Result::valid);
  if (invalid != jobs.end()) throw WrongResult(invalid->job, "the result is INVALID", "its notes say why");
}

int telling_what_was_kept(const std::string& kept, const std::function<int()>& work) {
  try {
    return work();
  } catch (const LostRank& error) {
    if (kept.empty()) throw;
    throw LostRank("", error.what(), error.hint() + (error.hint().empty() ? "" : "; ") + kept);
  }
}

std::string kept_text(const std::string& what, const fs::path& file) {
  const std::string in_file = file.empty() || file == "-" ? "" : fmt::format("in {} and ", file.string());
  return fmt::format("what was measured before, {}, is {}on stdout", what, in_file);
}

void put_result(const Arguments& given, const Result& result) {
  progress::clear();
  const std::string output = given.text("--output");
  if (!output.empty() && output != "-") {
    write_file(output, text_for(result, output));
    log::info(fmt::format("wrote {}", output));
  }
  const bool as_json = given.has("--json") || output == "-";
  print(written(result, as_json ? "json" : "text"));
  if (!as_json && output.empty() && !given.has("--quiet"))
    print("\nnext: write it with -o result.json, then look at it with `dlnetbench report result.json`\n");
}

void write_result(const Arguments& given, const Result& result) {
  put_result(given, result);
  if (!result.valid) throw WrongResult(result.kind, "the result is INVALID", "its notes say why");
}

}  // namespace dlnb
