// SPDX-License-Identifier: Apache-2.0
#include <dlnb/error.hpp>

#include "cli/output.hpp"
#include "cli/schedule_options.hpp"
#include "schedule/schedule.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  std::vector<Argument> all = schedule_arguments();
  all.push_back({.name = "--format",
                 .value = "FORMAT",
                 .help = "text: one section per role; json, csv: one per rank",
                 .fallback = "text",
                 .choices = {"text", "json", "csv"},
                 .group = "Result"});
  return all;
}

int run(const Arguments& given) {
  const Schedule schedule = schedule_from(given);
  const std::string format = given.text("--format", "text");
  if (format == "text") print(print_text(schedule, chosen_roles(given, schedule)));
  if (format == "json") print(print_json(schedule, chosen_ranks(given, schedule)));
  if (format == "csv") print(print_csv(schedule, chosen_ranks(given, schedule)));
  return int(Exit::success);
}

}  // namespace

extern constinit const Command schedule_print{
    .name = "schedule print",
    .summary = "every operation of every role, in the order in which it is issued",
    .examples =
        "schedule print --plan fsdp --model llama3-8b --ranks 16\n"
        "schedule print --plan dp+pp --model llama3-8b --ranks 16 --role first\n"
        "schedule print --plan dp --model vit-h --ranks 2 --rank 1 --format csv\n"
        "schedule print --plan dp --model vit-h --ranks 4 --lower ring --role 0",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
