// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include <dlnb/error.hpp>
#include <dlnb/units.hpp>

#include "cli/output.hpp"
#include "cli/schedule_options.hpp"
#include "cli/table.hpp"
#include "schedule/schedule.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  std::vector<Argument> all = schedule_arguments();
  all.push_back({.name = "--format",
                 .value = "FORMAT",
                 .help = "how to print; json and csv count bytes",
                 .fallback = "text",
                 .choices = {"text", "json", "csv"},
                 .group = "Result"});
  return all;
}

Cell size(std::int64_t bytes, bool for_people) {
  if (!for_people) return Cell(bytes);
  Cell cell(to_text(Bytes{bytes}));
  cell.number = true;
  return cell;
}

Table table_of(const Ledger& ledger, const std::vector<std::int64_t>& roles, bool for_people) {
  Table table{{"role", "axis", "operation", "phase", "dtype", "group_size", "count", "bytes_each",
               "bytes_total", "padding_bytes"},
              {}};
  for (const LedgerRow& row : ledger)
    if (std::ranges::find(roles, row.role) != roles.end())
      table.rows.push_back({row.role, row.axis, name_of(row.kind), name_of(row.phase), name_of(row.dtype),
                            row.group_size, row.count, size(row.bytes_each, for_people),
                            size(row.bytes_total, for_people), size(row.padding_bytes, for_people)});
  return table;
}

int run(const Arguments& given) {
  const Schedule schedule = schedule_from(given);
  const std::string format = given.text("--format", "text");
  const bool for_people = format == "text";
  const Table table = table_of(ledger_of(schedule), chosen_roles(given, schedule), for_people);
  if (for_people)
    print(fmt::format("{} · {} · {}, what one rank of a role moves in one step\n\n", schedule.plan,
                      schedule.model, counted(schedule.grid.ranks(), "rank")));
  if (format == "json") print(R"({"schema": "dlnetbench.ledger/1", "rows": )" + to_json(table) + "}\n");
  else print(to_format(table, format));
  if (for_people && !schedule.notes.empty()) {
    print("\n");
    for (const std::string& note : schedule.notes) print("note: " + note + "\n");
  }
  return int(Exit::success);
}

}  // namespace

extern constinit const Command schedule_ledger{
    .name = "schedule ledger",
    .summary = "bytes per role, axis and operation in one step",
    .examples =
        "schedule ledger --plan dp --model vit-h --ranks 8\n"
        "schedule ledger --plan dp+pp+tp --model llama3-70b --ranks 1024 --role middle\n"
        "schedule ledger --plan fsdp --model minerva-7b --ranks 16 --format csv",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
