// SPDX-License-Identifier: Apache-2.0
#include "cli/live_jobs.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <dlnb/error.hpp>
#include <dlnb/options.hpp>

#include "cli/result_output.hpp"
#include "cli/run_options.hpp"
#include "config/config.hpp"
#include "core/log.hpp"
#include "report/report.hpp"

namespace dlnb {
namespace {

double measured_seconds(const MeasuredRun& run) {
  double seconds = 0;
  for (const IterationRow& row : run.iterations) seconds += row.time;
  return seconds;
}

/// Without the first and the last, where that leaves two.
void keep_inner_iterations(MeasuredRun& run) {
  if (run.iterations.size() < 4) return;
  run.iterations.pop_back();
  run.iterations.erase(run.iterations.begin());
}

void refuse_what_is_simulated_only(const std::vector<JobSpec>& jobs) {
  for (const JobSpec& job : jobs) {
    if (job.start.value > 0)
      throw UserError(where_of(job.run.origin, "job.start"),
                      fmt::format("job '{}': live jobs start together", job.name),
                      "simulate them, or leave it out");
    if (job.repeat)
      throw UserError(where_of(job.run.origin, "job.repeat"),
                      fmt::format("job '{}': live jobs all last equally long", job.name),
                      "simulate them, or leave it out");
  }
}

}  // namespace

std::vector<std::string> run_words(const Arguments& given, const std::string& job,
                                   const std::filesystem::path& file, Seconds min_time) {
  std::vector<std::string> except{"--job"};
  if (min_time.value > 0) except.insert(except.end(), {"--min-time", "--max-time"});
  for (const char* key : simulated_keys) except.push_back(flag_of(key));
  std::vector<std::string> words{"run", "--quiet"};
  for (std::string& word : words_of(given, run_arguments(Purpose::live), except))
    words.push_back(std::move(word));
  if (!job.empty()) words.insert(words.end(), {"--job", job});
  if (min_time.value > 0)
    words.insert(words.end(), {"--min-time", write_value(min_time), "--max-time", "0 s"});
  words.insert(words.end(), {"--output", file.string()});
  return words;
}

std::vector<LiveJob> measure_jobs(const Arguments& given, const std::vector<JobSpec>& jobs,
                                  const std::filesystem::path& folder) {
  refuse_what_is_simulated_only(jobs);
  std::vector<LiveJob> measured;
  double longest = 0;
  for (const JobSpec& job : jobs) {
    log::info(fmt::format("{} alone", job.name));
    const std::filesystem::path file = folder / (job.name + ".alone.json");
    run_again({run_words(given, job.name, file)}, true);
    measured.push_back({job.name, read_result(file), {}, folder / (job.name + ".json")});
    longest = std::max({longest, measured_seconds(measured.back().alone), job.run.min_time.value});
  }
  log::info(fmt::format("{} jobs at once", jobs.size()));
  std::vector<std::vector<std::string>> commands;
  for (const LiveJob& job : measured)
    commands.push_back(run_words(given, job.name, job.result, {2 * longest}));
  run_again(commands, true);
  for (LiveJob& job : measured) {
    job.together = read_result(job.result);
    keep_inner_iterations(job.together);
  }
  return measured;
}

void add_job(const std::filesystem::path& result, const std::string& job, const Slowdown& slowdown) {
  using Json = nlohmann::ordered_json;
  Json json;
  std::ifstream(result) >> json;
  const auto seconds = [](std::int64_t nanoseconds) { return double(nanoseconds) / 1e9; };
  const Metric& value = slowdown.value;
  json["job"] = job;
  json["slowdown"] = Json{{"value", value.value},
                          {"unit", value.unit},
                          {"count", value.count},
                          {"low", value.low},
                          {"high", value.high},
                          {"definition", value.definition},
                          {"alone", slowdown.alone},
                          {"together", slowdown.together},
                          {"added", Json{{"compute", seconds(slowdown.added.compute)},
                                         {"transfer", seconds(slowdown.added.transfer)},
                                         {"straggler_wait", seconds(slowdown.added.straggler_wait)},
                                         {"pipeline_bubble", seconds(slowdown.added.pipeline_bubble)}}}};
  json["label"] = job + ": " + json.at("label").get<std::string>();
  write_file(result, json.dump(1) + "\n");
}

void write_job_files(const Arguments& given, const std::vector<std::filesystem::path>& results,
                     const std::vector<JobSpec>& jobs) {
  const std::filesystem::path output = given.text("--output");
  if (output.empty()) return;
  if (output.extension() == ".html") return write_file(output, html_report(results));
  for (std::size_t j = 0; j < results.size(); ++j) {
    std::ifstream stream(results[j], std::ios::binary);
    write_file(file_of_job(output, jobs[j].name), {std::istreambuf_iterator<char>(stream), {}});
  }
}

}  // namespace dlnb
