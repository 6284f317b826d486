// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "analysis/analysis.hpp"
#include "cli/live_jobs.hpp"
#include "cli/output.hpp"
#include "cli/rank_command.hpp"
#include "cli/result_output.hpp"
#include "cli/run_options.hpp"
#include "cli/temporary_folder.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "executor/live/live.hpp"
#include "pipeline.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  std::vector<Argument> all = run_arguments(Purpose::live);
  all.push_back(job_argument());
  for (Argument& argument : result_arguments()) all.push_back(std::move(argument));
  return all;
}

int run_here(const Arguments& given, const RunSpec& spec, const OnPartialResult& keep) {
  if (!is_first_rank()) log::set_level(log::Level::quiet);
  const std::optional<Result> result = dlnb::run(spec, keep);
  if (result) write_result(given, *result);
  return int(Exit::success);
}

/// Jobs side by side, each as a run of its own.
int run_jobs(const Arguments& given, const std::vector<JobSpec>& jobs) {
  if (given.has("--output")) check_writable(given.text("--output"), {".json", ".html"});
  const TemporaryFolder folder;
  const std::vector<LiveJob> measured = measure_jobs(given, jobs, folder.path());
  std::vector<JobOutcome> outcomes;
  std::vector<std::filesystem::path> results;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const RunSpec& spec = jobs[j].run;
    const LiveJob& job = measured[j];
    outcomes.push_back({job.name, spec.plan.name, spec.model, spec.ranks,
                        slowdown(job.alone.iterations, job.together.iterations)});
    add_job(job.result, job.name, outcomes.back().slowdown);
    results.push_back(job.result);
  }
  write_job_files(given, results, jobs);
  print(slowdown_table(outcomes));
  for (const LiveJob& job : measured)
    if (!job.alone.valid || !job.together.valid)
      throw WrongResult(job.name, "the result is INVALID", "its notes say why");
  return int(Exit::success);
}

int run_command(const Arguments& given) {
  const std::vector<JobSpec> jobs = jobs_from(given, Purpose::live);
  check_result_output(given);
  if (is_first_rank())
    for (const JobSpec& job : jobs) refuse_simulated_keys(job.run, "run");
  if (jobs.size() > 1) return run_jobs(given, jobs);
  const RunSpec& spec = jobs.front().run;
  if (!inside_a_world() && !needs_launcher(spec.backend) && !(spec.hosts.empty() && spec.testbed.empty()))
    throw UserError(spec.testbed.empty() ? "--hosts" : "--testbed",
                    fmt::format("ranks of '{}' are threads of one process, on one host", spec.backend),
                    "choose a backend whose ranks are processes, such as --backend mpi");
  std::string kept;
  const auto keep = [&](const Result& result) {
    put_result(given, result);
    kept = kept_text(counted(std::int64_t(result.metrics.iterations.size()), "iteration"),
                     given.text("--output"));
  };
  return telling_what_was_kept(kept, [&] {
    if (inside_a_world() || !needs_launcher(spec.backend)) return run_here(given, spec, keep);
    if (progress::is_on()) hand_on_progress();
    return start_ranks(spec, rank_command(given, spec.origin.find("ranks") ? 0 : spec.ranks), keep);
  });
}

}  // namespace

extern constinit const Command run{
    .name = "run",
    .summary = "run a parallel plan live on this machine, one process per rank",
    .examples =
        "run --plan dp --model vit-h --device a100 --ranks 4 --scale 1/64 --iterations 6 -o out.json\n"
        "run --plan dp --model vit-h --ranks 8 --scale 1/64 --hosts node1,node2 --agent ssh\n"
        "run --spec jobs.toml --backend threads -o out.json\n"
        "run --plan pipeline=2 --model vit-b --ranks 2 --message-scale 1/64 --compute-scale 1/16 --json",
    .arguments = arguments,
    .run = run_command,
};

}  // namespace dlnb::commands
