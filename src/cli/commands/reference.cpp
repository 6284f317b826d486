// SPDX-License-Identifier: Apache-2.0
#include "cli/reference.hpp"

#include <dlnb/error.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  return {
      {.name = "page", .value = "PAGE", .help = "the page of docs/reference/", .choices = reference_pages()}};
}

int run(const Arguments& given) {
  print(reference_page(given.text("page", "cli")));
  return int(Exit::success);
}

}  // namespace

extern constinit const Command reference{
    .name = "reference",
    .summary = "a generated page of docs/reference/, as Markdown",
    .examples = "reference cli > docs/reference/cli.md",
    .arguments = arguments,
    .run = run,
    .hidden = true,
};

}  // namespace dlnb::commands
