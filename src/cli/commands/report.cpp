// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/result_output.hpp"
#include "core/log.hpp"
#include "report/report.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  return {
      {.name = "results",
       .value = "FILE.json",
       .help = "results of `run` or `simulate`, as JSON",
       .repeatable = true},
      {.name = "--output",
       .short_name = "-o",
       .value = "FILE.html",
       .help = "the page to write; - is stdout",
       .fallback = "report.html"},
  };
}

int run(const Arguments& given) {
  std::vector<std::filesystem::path> results;
  for (const std::string& name : given.all("results")) results.emplace_back(name);
  if (results.empty())
    throw UserError("report", "no result was named", "write one with `dlnetbench simulate … -o result.json`");

  const std::string output = given.text("--output", "report.html");
  if (output == "-") {
    print(html_report(results));
    return int(Exit::success);
  }
  check_writable(output, {".html"});
  write_file(output, html_report(results));
  log::info(fmt::format("wrote {}", output));
  return int(Exit::success);
}

}  // namespace

extern constinit const Command report{
    .name = "report",
    .summary = "one self-contained page over one or more results",
    .examples =
        "report out.json -o report.html\n"
        "report alone.json shared.json -o comparison.html",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
