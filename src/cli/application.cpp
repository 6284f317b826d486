// SPDX-License-Identifier: Apache-2.0
// The registry of commands as a CLI11 application. CLI11 splits the line into options and values; what a
// value means is decided by those who own it, so that a number reads the same from a file and from an option.
#include "cli/application.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <dlnb/document.hpp>
#include <dlnb/error.hpp>

#include "cli/output.hpp"
#include "cli/table.hpp"
#include "core/log.hpp"
#include "core/progress.hpp"
#include "core/provenance.hpp"

namespace dlnb {
namespace {

constexpr std::size_t help_column = 34;
constexpr std::size_t help_width = 110;
constexpr std::size_t longest_option = 80;

std::string description(const Argument& argument) {
  std::string text = argument.help;
  if (!argument.choices.empty()) text += fmt::format("; one of: {}", fmt::join(argument.choices, ", "));
  if (!argument.fallback.empty()) text += fmt::format(" [{}]", argument.fallback);
  return wrapped(text, help_width - help_column);
}

std::string examples(const Command& command) {
  if (command.examples.empty()) return {};
  std::string text = "Examples:";
  std::string_view rest = command.examples;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += fmt::format("\n  dlnetbench {}", rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text;
}

void refuse(const std::string& where, const Argument& argument, const std::string& value) {
  if (value.empty()) throw UserError(where, "the value is empty", "expected " + argument.value);
  if (value.starts_with("--")) throw UserError(where, "a value is missing before " + in_quotes(value));
  if (!argument.choices.empty() && std::ranges::find(argument.choices, value) == argument.choices.end())
    throw UserError(where, "nothing is called " + in_quotes(value), choose_one_of(value, argument.choices));
}

void add(CLI::App& app, const Argument& argument, Arguments& into) {
  std::string names = argument.name;
  if (!argument.short_name.empty()) names = argument.short_name + "," + names;
  CLI::Option* option = nullptr;
  if (argument.is_flag()) {
    option = app.add_flag_function(
        names,
        [&into, name = argument.name](std::int64_t count) {
          if (count > 0) into.add(name, "");
        },
        description(argument));
  } else {
    const auto store = [&into, argument](const CLI::results_t& values) {
      if (values.size() > 1 && !argument.repeatable)
        throw UserError(argument.name,
                        fmt::format("given {} times, with {} and {}", values.size(), in_quotes(values[0]),
                                    in_quotes(values[1])),
                        "give it once");
      for (const std::string& value : values) {
        refuse(argument.name, argument, value);
        into.add(argument.name, value);
      }
      return true;
    };
    option = app.add_option(names, store, description(argument));
    option->type_name(argument.value)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (!argument.is_option() && argument.repeatable) option->expected(0, 1 << 20)->allow_extra_args(true);
  }
  option->group(argument.group);
}

/// A built application: the parser, where what it reads goes, and which parser belongs to which command.
struct Application {
  CLI::App app{"Communication schedules of distributed deep learning, live and simulated", "dlnetbench"};
  Arguments arguments;
  std::vector<std::pair<const Command*, CLI::App*>> commands;

  Application() {
    app.fallthrough()->allow_extras()->require_subcommand(0, 1);
    app.get_formatter()->column_width(help_column);
    app.set_help_flag("-h,--help", "print this help and exit");
    app.footer(
        "`dlnetbench <command> --help` describes a command, with examples. Exit codes: 0 success, 2 the "
        "request\n"
        "is wrong, 3 not possible here, 4 the result is wrong, 5 a rank was lost.");
    for (const Argument& argument : global_arguments()) add(app, argument, arguments);

    std::map<std::string_view, CLI::App*> groups;
    for (const auto& [name, summary] : command_groups()) {
      CLI::App* group = app.add_subcommand(std::string(name), std::string(summary));
      group->fallthrough()->allow_extras()->require_subcommand(0, 1)->group("Commands");
      groups[name] = group;
    }
    for (const Command* command : commands::all()) {
      const std::size_t blank = command->name.find(' ');
      CLI::App& parent = blank == std::string_view::npos ? app : *groups.at(command->name.substr(0, blank));
      const std::string_view name =
          blank == std::string_view::npos ? command->name : command->name.substr(blank + 1);
      CLI::App* own = parent.add_subcommand(std::string(name), std::string(command->summary));
      own->fallthrough()->allow_extras()->group(command->hidden ? "" : "Commands");
      own->footer(examples(*command));
      for (const Argument& argument : command->arguments()) add(*own, argument, arguments);
      commands.emplace_back(command, own);
    }
  }
  // The parser's callbacks hold the address of `arguments`.
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  const Command* chosen() const {
    for (const auto& [command, parser] : commands)
      if (parser->parsed()) return command;
    return nullptr;
  }
  std::vector<std::string> command_names(std::string_view group = {}) const {
    std::vector<std::string> names;
    for (const auto& [command, parser] : commands)
      if (!command->hidden && (group.empty() || command->name.starts_with(std::string(group) + " ")))
        names.emplace_back(group.empty() ? command->name.substr(0, command->name.find(' '))
                                         : command->name.substr(group.size() + 1));
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    return names;
  }
};

std::string nearest_or_help(const std::string& word, const std::vector<std::string>& known,
                            std::string_view command) {
  const std::string hint = choose_one_of(word, known);
  if (const std::size_t end = hint.find('?'); hint.starts_with("did you mean") && end != std::string::npos)
    return hint.substr(0, end + 1);
  return fmt::format("see `dlnetbench {}{}--help`", command, command.empty() ? "" : " ");
}

[[noreturn]] void refuse_rest(const Application& application, const Command* command,
                              const std::string& word) {
  if (!word.starts_with('-')) {
    if (command)
      throw UserError("command line", in_quotes(word) + " is one word too many",
                      fmt::format("see `dlnetbench {} --help`", command->name));
    for (const CLI::App* group : application.app.get_subcommands())
      throw UserError(group->get_name(), "nothing is called " + in_quotes(word),
                      choose_one_of(word, application.command_names(group->get_name())));
    throw UserError("command line", "nothing is called " + in_quotes(word),
                    choose_one_of(word, application.command_names()));
  }
  std::vector<std::string> known{"--help"};
  std::vector<Argument> arguments = command ? command->arguments() : std::vector<Argument>{};
  for (const Argument& argument : global_arguments()) arguments.push_back(argument);
  for (const Argument& argument : arguments)
    if (argument.is_option()) known.push_back(argument.name);
  const std::string option = word.substr(0, word.find('='));
  const std::string_view name = command ? command->name : std::string_view{};
  if (std::ranges::find(known, option) != known.end())
    throw UserError(option, "no option is read behind '--'", "leave out the '--'");
  throw UserError(printable(option, longest_option),
                  fmt::format("dlnetbench{}{} has no such option", name.empty() ? "" : " ", name),
                  nearest_or_help(option, known, name));
}

/// "--model: 1 required NAME missing" → --model.
std::string option_in(const CLI::ParseError& error) {
  const std::string text = error.what();
  return text.starts_with('-') ? text.substr(0, text.find(':')) : "command line";
}

void set_up_log(const Arguments& arguments) {
  if (arguments.has("--quiet") && arguments.has("--verbose"))
    throw UserError("--quiet", "contradicts --verbose", "give one of them");
  log::set_colour(colour_wanted(arguments.has("--no-color")));
  if (arguments.has("--quiet")) log::set_level(log::Level::quiet);
  if (!arguments.has("--quiet") && progress_wanted()) progress::switch_on();
  if (arguments.has("--verbose")) log::set_level(log::Level::debug);
}

std::string version_text() {
  const Provenance program = provenance_of_program();
  std::string text = "dlnetbench " + program.version;
  if (!program.commit.empty()) text += " (" + program.commit + ")";
  if (!program.compiler.empty()) text += ", " + program.compiler;
  return text + "\n";
}

}  // namespace

std::vector<Argument> global_arguments() {
  return {
      {.name = "--version", .help = "print the version and exit", .group = "Every command takes"},
      {.name = "--quiet",
       .short_name = "-q",
       .help = "results and errors only",
       .group = "Every command takes"},
      {.name = "--verbose", .short_name = "-v", .help = "say more on stderr", .group = "Every command takes"},
      {.name = "--no-color", .help = "no colours (NO_COLOR does the same)", .group = "Every command takes"},
  };
}

std::vector<std::pair<std::string_view, std::string_view>> command_groups() {
  return {{"schedule", "what every rank would compute and communicate: print, check, add up"}};
}

std::string help_text(std::string_view name) {
  Application application;
  if (name.empty()) return application.app.help();
  for (const auto& [command, parser] : application.commands)
    if (command->name == name) {
      const std::size_t blank = name.find(' ');
      const std::string_view group =
          blank == std::string_view::npos ? std::string_view{} : name.substr(0, blank);
      return parser->help(fmt::format("dlnetbench{}{}", group.empty() ? "" : " ", group));
    }
  throw UserError("help", "there is no command '" + std::string(name) + "'");
}

int run_command_line(int argc, char** argv) {
  Application application;
  application.arguments.line.assign(argv + std::min(argc, 1), argv + argc);
  try {
    application.app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(application.app.help());
    return int(Exit::success);
  } catch (const CLI::ArgumentMismatch& error) {
    throw UserError(option_in(error), "a value is missing");
  } catch (const CLI::ParseError& error) {
    throw UserError(option_in(error), error.what());
  }

  const Arguments& arguments = application.arguments;
  if (arguments.has("--version")) {
    print(version_text());
    return int(Exit::success);
  }
  const Command* command = application.chosen();
  if (const auto rest = application.app.remaining(true); !rest.empty())
    refuse_rest(application, command, rest.front());
  if (!command) {
    const auto groups = application.app.get_subcommands();
    const std::string group = groups.empty() ? std::string() : groups.front()->get_name();
    throw UserError(group.empty() ? "command line" : group, "a command is missing",
                    choose_one_of("", application.command_names(group)));
  }
  set_up_log(arguments);
  return command->run(arguments);
}

}  // namespace dlnb
