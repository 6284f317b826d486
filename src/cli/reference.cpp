// SPDX-License-Identifier: Apache-2.0
#include "cli/reference.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "cli/application.hpp"
#include "cli/lists.hpp"
#include "cli/run_options.hpp"
#include "schedule/pass.hpp"

namespace dlnb {
namespace {

std::string head(std::string_view title, std::string_view page) {
  return fmt::format(
      "# {}\n\n<!-- Written by `dlnetbench reference {}`; tools/update_reference rewrites it. -->\n\n", title,
      page);
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string usage(const Command& command) {
  std::string text = fmt::format("dlnetbench {}", command.name);
  bool options = false;
  for (const Argument& argument : command.arguments()) {
    if (argument.is_option()) options = true;
    else text += fmt::format(" {}{}", argument.value, argument.repeatable ? " …" : "");
  }
  return text + (options ? " [options]" : "");
}

Table table_of(const std::vector<Argument>& arguments) {
  Table table{{"option", "value", "default", "what it does"}, {}};
  for (const Argument& argument : arguments) {
    const std::string names = argument.short_name.empty()
                                  ? code(argument.name)
                                  : code(argument.short_name) + ", " + code(argument.name);
    std::string help = argument.help;
    if (!argument.choices.empty()) help += fmt::format("; one of: {}", fmt::join(argument.choices, ", "));
    if (argument.repeatable) help += "; may be repeated";
    table.rows.push_back({names, argument.value, code(argument.fallback), help});
  }
  return table;
}

std::vector<std::string> names_of_run_options() {
  std::vector<std::string> names;
  for (const Purpose purpose : {Purpose::live, Purpose::simulated, Purpose::schedule})
    for (const Argument& argument : run_arguments(purpose)) names.push_back(argument.name);
  return names;
}

std::string cli_page() {
  std::string page = head("Command line", "cli");
  page +=
      "Results go to stdout, talk to stderr. A mistake is reported as `error: <where>: <problem>` with a "
      "hint on the\n"
      "next line.\n\n"
      "| exit code | meaning |\n|---:|---|\n"
      "| 0 | success |\n"
      "| 2 | the request is wrong; the message says where, what and what would be right |\n"
      "| 3 | right to ask, not possible on this host; the message says what is missing |\n"
      "| 4 | the result is wrong: verification failed, or the run is INVALID (it is written all the same) |\n"
      "| 5 | a rank hung or died |\n\n"
      "Every command takes:\n\n";
  std::vector<Argument> everywhere = global_arguments();
  everywhere.push_back({.name = "--help", .short_name = "-h", .help = "print help with examples and exit"});
  page += to_markdown(table_of(everywhere));

  const std::vector<std::string> of_a_run = names_of_run_options();
  for (const Command* command : commands::all()) {
    if (command->hidden) continue;
    page += fmt::format("\n## {}\n\n{}\n\n```\n{}\n```\n", command->name, command->summary, usage(*command));
    std::vector<Argument> own;
    // A command with options of its own may call some as a run does.
    const std::vector<Argument> arguments = command->arguments();
    const bool has_run_options = std::ranges::find(arguments, "--plan", &Argument::name) != arguments.end();
    for (const Argument& argument : arguments) {
      const bool of_run = has_run_options && std::ranges::find(of_a_run, argument.name) != of_a_run.end();
      if (!of_run) own.push_back(argument);
    }
    if (has_run_options)
      page += "\nTakes the [options of a run](options.md)" + std::string(own.empty() ? ".\n" : ", and:\n");
    if (!own.empty()) page += "\n" + to_markdown(table_of(own));
    page += "\nExamples:\n\n```sh\n";
    std::string_view rest = command->examples;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      page += fmt::format("dlnetbench {}\n", rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    page += "```\n";
  }
  return page;
}

std::string pass_options(const Pass& pass) {
  std::string text = fmt::format("\n### {}\n\n{}\n\n", pass.name, pass.summary);
  Table table{{"key", "value", "default (paper)", "default (pytorch)", "what it does"}, {}};
  const auto paper = pass.options(Flavour::paper);
  const auto pytorch = pass.options(Flavour::pytorch);
  for (const OptionInfo& option : paper) {
    const auto same = std::ranges::find(pytorch, option.name, &OptionInfo::name);
    table.rows.push_back({code(option.name), option.type, code(option.fallback),
                          same == pytorch.end() ? "not used" : code(same->fallback), option.help});
  }
  for (const OptionInfo& option : pytorch)
    if (std::ranges::find(paper, option.name, &OptionInfo::name) == paper.end())
      table.rows.push_back({code(option.name), option.type, "not used", code(option.fallback), option.help});
  text += fmt::format("The degree is `{} = {}` or, as the rest of the ranks, `\"rest\"`; `{}` in a table.\n",
                      pass.name, "4", pass.degree_name);
  return table.rows.empty() ? text : text + "\n" + to_markdown(table);
}

std::string options_page() {
  std::string page = head("Options of a run", "options");
  page +=
      "The same name is an option (`--cost-model exact`), a key of a spec file (`cost_model = \"exact\"`) "
      "and of\n"
      "`--set cost_model=exact`. Where one is given more than once, options win over `--set`, and `--set` "
      "over the "
      "file.\n\n";
  std::vector<Argument> all;
  for (const Purpose purpose : {Purpose::live, Purpose::simulated, Purpose::schedule})
    for (Argument& argument : run_arguments(purpose))
      if (std::ranges::find(all, argument.name, &Argument::name) == all.end())
        all.push_back(std::move(argument));
  page += to_markdown(table_of(all));
  page +=
      "\n## Passes of a plan\n\nKeys of `[plan]` in a spec file, and of `--set plan.<pass>.<key>=<value>`.\n";
  for (const Pass* pass : passes::all()) page += pass_options(*pass);
  return page;
}

std::string lists_page() {
  std::string page = head("What has a name", "lists");
  page += "`dlnetbench list <what>` prints these tables, also as JSON.\n";
  for (const Listing& listing : listings()) {
    // What differs between machines is not on a page.
    const Table table = without(without(listing.table(), "usable"), "reason");
    page += fmt::format("\n## {}\n\n{}\n\n{}", listing.name, listing.summary, to_markdown(table));
  }
  return page;
}

}  // namespace

std::vector<std::string> reference_pages() { return {"cli", "options", "lists"}; }

std::string reference_page(std::string_view name) {
  if (name == "cli") return cli_page();
  if (name == "options") return options_page();
  if (name == "lists") return lists_page();
  throw UserError("reference", "nothing is called '" + std::string(name) + "'",
                  choose_one_of(name, reference_pages()));
}

}  // namespace dlnb
