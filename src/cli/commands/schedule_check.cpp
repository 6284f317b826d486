// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <dlnb/error.hpp>
#include <dlnb/units.hpp>

#include "cli/output.hpp"
#include "cli/run_options.hpp"
#include "cli/schedule_options.hpp"
#include "cli/table.hpp"
#include "schedule/schedule.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  std::vector<Argument> all = run_arguments(Purpose::schedule);
  all.push_back({.name = "--format",
                 .value = "FORMAT",
                 .help = "how to print",
                 .fallback = "text",
                 .choices = {"text", "json", "csv"},
                 .group = "Result"});
  return all;
}

int run(const Arguments& given) {
  const Schedule schedule = schedule_from(given);
  const std::vector<std::string> problems = check(schedule);
  const std::string format = given.text("--format", "text");
  if (format != "text") {
    Table table{{"problem"}, {}};
    for (const std::string& problem : problems) table.rows.push_back({problem});
    print(to_format(table, format));
  } else if (problems.empty()) {
    std::size_t operations = 0;
    for (const Program& program : schedule.programs) operations += program.operations.size();
    print(fmt::format("sound: {} on {}; {}, {}\n", schedule.plan, counted(schedule.grid.ranks(), "rank"),
                      counted(std::int64_t(schedule.programs.size()), "role"),
                      counted(std::int64_t(operations), "operation")));
  } else {
    for (const std::string& problem : problems) print(problem + "\n");
  }
  return int(problems.empty() ? Exit::success : Exit::wrong_result);
}

}  // namespace

extern constinit const Command schedule_check{
    .name = "schedule check",
    .summary = "whether it can run: matched messages, no deadlock, equal order in every group, no byte lost",
    .examples =
        "schedule check --plan dp+pp+tp --model llama3-70b --ranks 1024\n"
        "schedule check --plan dp+pp+ep --model mixtral-8x7b --ranks 64 --format json",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
