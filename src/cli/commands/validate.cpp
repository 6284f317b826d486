// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <dlnb/error.hpp>

#include "analysis/analysis.hpp"
#include "cli/live_jobs.hpp"
#include "cli/output.hpp"
#include "cli/result_output.hpp"
#include "cli/run_options.hpp"
#include "cli/table.hpp"
#include "cli/temporary_folder.hpp"
#include "core/log.hpp"
#include "pipeline.hpp"
#include "report/report.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  std::vector<Argument> all = run_arguments(Purpose::live);
  all.push_back(job_argument());
  all.push_back({.name = "--output",
                 .short_name = "-o",
                 .value = "FILE",
                 .help = "write the comparison: .json or .csv",
                 .group = "Result"});
  all.push_back({.name = "--json", .help = "JSON instead of a table on stdout", .group = "Result"});
  return all;
}

/// One quantity, measured and simulated.
struct Comparison {
  std::string job, setting, quantity;
  double live = 0, simulated = 0;

  double error() const { return simulated / live - 1; }
};

double mean_time(const std::vector<IterationRow>& iterations) {
  double logs = 0;
  for (const IterationRow& row : iterations) logs += std::log(row.time);
  return std::exp(logs / double(iterations.size()));
}

/// Operations by what they are; of one that several roles have, the slowest.
void compare_operations(const std::string& job, const MeasuredRun& live, const Metrics& simulated,
                        std::vector<Comparison>& all) {
  for (const OperationRow& row : live.operations) {
    if (!moves_data(row.kind) || row.bytes_each == 0) continue;
    const auto same = std::ranges::find_if(simulated.operations, [&](const OperationRow& other) {
      return other.role == row.role && other.axis == row.axis && other.kind == row.kind &&
             other.phase == row.phase && other.bytes_each == row.bytes_each;
    });
    if (same == simulated.operations.end()) continue;
    all.push_back({job, "alone",
                   fmt::format("{} over {}, {}, role {}", name_of(row.kind), row.axis,
                               to_text(Bytes{row.bytes_each}), row.role),
                   row.time.median, same->time.median});
  }
}

std::vector<Comparison> compare(const Arguments& given, const std::vector<JobSpec>& jobs, bool& valid) {
  const TemporaryFolder folder;
  std::vector<Comparison> all;
  const std::vector<Result> simulated = simulate(jobs);
  if (jobs.size() == 1) {
    const std::filesystem::path file = folder.path() / "live.json";
    log::info("live");
    run_again({run_words(given, jobs.front().name, file)}, true);
    const MeasuredRun live = read_result(file);
    valid = live.valid;
    all.push_back({jobs.front().name, "alone", "iteration time", mean_time(live.iterations),
                   mean_time(simulated.front().metrics.iterations)});
    compare_operations(jobs.front().name, live, simulated.front().metrics, all);
    return all;
  }
  const std::vector<LiveJob> live = measure_jobs(given, jobs, folder.path());
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    valid = valid && live[j].alone.valid && live[j].together.valid;
    const Slowdown measured = slowdown(live[j].alone.iterations, live[j].together.iterations);
    if (!simulated[j].slowdown) continue;  // several simulated jobs have one each
    const Slowdown& modelled = *simulated[j].slowdown;
    const std::string& job = jobs[j].name;
    all.push_back({job, "alone", "iteration time", measured.alone, modelled.alone});
    all.push_back({job, "together", "iteration time", measured.together, modelled.together});
    all.push_back({job, "together", "slowdown", measured.value.value, modelled.value.value});
  }
  return all;
}

std::string percent(double error) { return fmt::format("{:+.1f} %", error * 100); }

Table table_of(const std::vector<Comparison>& all) {
  Table table{{"job", "setting", "quantity", "live", "simulated", "error"}, {}};
  for (const Comparison& row : all) {
    const bool ratio = row.quantity == "slowdown";
    const auto text = [&](double value) {
      return ratio ? fmt::format("{:.2f} x", value) : to_text(Seconds{value});
    };
    table.rows.push_back(
        {row.job, row.setting, row.quantity, text(row.live), text(row.simulated), percent(row.error())});
  }
  return table;
}

std::string json_of(const std::vector<Comparison>& all, const std::vector<JobSpec>& jobs) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const Comparison& row : all)
    rows.push_back(Json{{"job", row.job},
                        {"setting", row.setting},
                        {"quantity", row.quantity},
                        {"unit", row.quantity == "slowdown" ? "1" : "s"},
                        {"live", row.live},
                        {"simulated", row.simulated},
                        {"error", row.error()}});
  return Json{{"schema", "dlnetbench.validation/1"}, {"machine", jobs.front().run.machine}, {"rows", rows}}
             .dump(1) +
         "\n";
}

int run(const Arguments& given) {
  const std::vector<JobSpec> jobs = jobs_from(given, Purpose::live);
  const std::string output = given.text("--output");
  if (!output.empty()) check_writable(output, {".json", ".csv"});
  for (const JobSpec& job : jobs)
    if (job.run.machine.empty())
      throw UserError("--machine", "it is not said which machine describes this one",
                      "make its file with `dlnetbench calibrate`");
  bool valid = true;
  const std::vector<Comparison> all = compare(given, jobs, valid);
  if (!output.empty()) {
    write_file(output, output.ends_with(".csv") ? to_csv(table_of(all)) : json_of(all, jobs));
    log::info(fmt::format("wrote {}", output));
  }
  print(given.has("--json") ? json_of(all, jobs) : to_text(table_of(all)));
  if (!valid)
    throw WrongResult("validate", "a live run was INVALID: compute was emulated too badly to compare times",
                      "quieten this machine, or give every rank a core");
  return int(Exit::success);
}

}  // namespace

extern constinit const Command validate{
    .name = "validate",
    .summary = "run a spec live and simulated, and print both and the error",
    .examples =
        "validate --plan dp --model vit-h --ranks 2 --scale 1/64 --machine localhost.toml\n"
        "validate --spec jobs.toml --testbed two-level --machine two-level.toml -o validation.json",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
