// SPDX-License-Identifier: Apache-2.0
#include <dlnb/error.hpp>

#include "cli/command.hpp"
#include "cli/lists.hpp"
#include "cli/output.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  std::vector<std::string> names;
  for (const Listing& listing : listings()) names.emplace_back(listing.name);
  return {
      {.name = "what", .value = "WHAT", .help = "what to list", .choices = names},
      {.name = "--format",
       .value = "FORMAT",
       .help = "how to print",
       .fallback = "text",
       .choices = {"text", "json", "markdown"}},
  };
}

int run(const Arguments& given) {
  if (!given.has("what")) {
    Table table{{"name", "summary"}, {}};
    for (const Listing& listing : listings()) table.rows.push_back({listing.name, listing.summary});
    print(to_format(table, given.text("--format", "text")));
    return int(Exit::success);
  }
  const Table table = listing_called(given.text("what")).table();
  const std::string format = given.text("--format", "text");
  print(format == "text" ? to_text(without(table, "source")) : to_format(table, format));
  return int(Exit::success);
}

}  // namespace

extern constinit const Command list{
    .name = "list",
    .summary = "models, machines, plans and everything else that has a name here",
    .examples =
        "list\n"
        "list models\n"
        "list backends --format json\n"
        "list metrics --format markdown",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
