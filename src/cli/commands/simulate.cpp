// SPDX-License-Identifier: Apache-2.0
#include <dlnb/error.hpp>

#include "cli/result_output.hpp"
#include "cli/run_options.hpp"
#include "pipeline.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  std::vector<Argument> all = run_arguments(Purpose::simulated);
  all.push_back(job_argument());
  for (Argument& argument : result_arguments()) all.push_back(std::move(argument));
  return all;
}

int run(const Arguments& given) {
  const std::vector<JobSpec> jobs = jobs_from(given, Purpose::simulated);
  check_result_output(given);
  const std::vector<Result> results = dlnb::simulate(jobs);
  if (results.size() == 1) write_result(given, results.front());
  else write_results(given, results);
  return int(Exit::success);
}

}  // namespace

extern constinit const Command simulate{
    .name = "simulate",
    .summary = "run a parallel plan on a modelled machine",
    .examples =
        "simulate --plan dp --model vit-h --machine leonardo --ranks 64\n"
        "simulate --plan dp+pp+tp --model llama3-70b --machine leonardo --ranks 1024 --placement random -o "
        "out.json\n"
        "simulate --spec jobs.toml -o out.json\n"
        "simulate --plan tensor=4,pipeline=8,data=rest --model llama3-8b --machine leonardo --ranks 64 -o "
        "out.csv",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
