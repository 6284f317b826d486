// SPDX-License-Identifier: Apache-2.0
// All three scripts do the same: find the command among the words so far; behind an option offer its values,
// else offer the command's options and positional values.
#include "cli/completion.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include <dlnb/error.hpp>

#include "cli/application.hpp"

namespace dlnb {
namespace {

std::vector<std::string> values_of(const Argument& argument) {
  if (!argument.choices.empty() || !argument.known) return argument.choices;
  return argument.known();
}

std::vector<Argument> arguments_of(const Command& command) {
  std::vector<Argument> all = command.arguments();
  for (Argument& argument : global_arguments()) all.push_back(std::move(argument));
  all.push_back({.name = "--help", .short_name = "-h", .help = "print help and exit"});
  return all;
}

std::vector<const Command*> visible() {
  std::vector<const Command*> all;
  for (const Command* command : commands::all())
    if (!command->hidden) all.push_back(command);
  return all;
}

/// What may follow `group` ("" for the program): names of commands.
std::vector<std::string> words_behind(std::string_view group) {
  std::set<std::string> words;
  for (const Command* command : visible()) {
    const std::string_view name = command->name;
    if (group.empty()) words.emplace(name.substr(0, name.find(' ')));
    else if (name.starts_with(std::string(group) + " ")) words.emplace(name.substr(group.size() + 1));
  }
  return {words.begin(), words.end()};
}

/// "--output|-o"
std::string pattern(const Argument& argument) {
  return argument.short_name.empty() ? argument.name : argument.name + "|" + argument.short_name;
}

/// Everything offered for a command where no option waits for its value.
std::vector<std::string> words_of(const Command& command) {
  std::vector<std::string> words;
  for (const Argument& argument : arguments_of(command))
    if (argument.is_option()) words.push_back(argument.name);
    else
      for (const std::string& value : values_of(argument)) words.push_back(value);
  return words;
}

bool reads_files(const Command& command) {
  return std::ranges::any_of(command.arguments(),
                             [](const Argument& a) { return !a.is_option() && a.takes_file(); });
}

/// The words up to the cursor as a command, for bash and zsh: both have the same `case`.
std::string find_command() {
  std::string out = "    case \"$command $word\" in\n";
  std::set<std::string> seen;
  for (const Command* command : visible()) {
    const std::string name(command->name);
    const std::size_t blank = name.find(' ');
    const std::string first = name.substr(0, blank);
    if (seen.insert(first).second) out += fmt::format("      \" {}\") command='{}' ;;\n", first, first);
    if (blank != std::string::npos) out += fmt::format("      \"{}\") command='{}' ;;\n", name, name);
  }
  return out + "    esac\n";
}

/// The script of bash and zsh: `offer` is the command that offers words, `files` the one that offers files.
std::string cases(std::string_view offer_before, std::string_view offer_after, std::string_view files) {
  const auto offer = [&](const std::vector<std::string>& words) {
    return fmt::format("{}{}{}", offer_before, fmt::join(words, " "), offer_after);
  };
  std::string out = "  case \"$command\" in\n";
  out += fmt::format("    '') {} ;;\n", offer(words_behind("")));
  for (const auto& [group, summary] : command_groups())
    out += fmt::format("    '{}') {} ;;\n", group, offer(words_behind(group)));
  for (const Command* command : visible()) {
    out += fmt::format("    '{}')\n      case \"$previous\" in\n", command->name);
    for (const Argument& argument : arguments_of(*command)) {
      if (!argument.is_option() || argument.is_flag()) continue;
      const std::vector<std::string> values = values_of(argument);
      const std::string action = argument.takes_file() ? std::string(files)
                                 : values.empty()      ? ":"
                                                       : offer(values);
      out += fmt::format("        {}) {}; return ;;\n", pattern(argument), action);
    }
    out += "      esac\n";
    if (reads_files(*command)) {
      out += fmt::format("      case \"$current\" in\n        -*) {} ;;\n        *) {} ;;\n      esac ;;\n",
                         offer(words_of(*command)), files);
    } else {
      out += fmt::format("      {} ;;\n", offer(words_of(*command)));
    }
  }
  return out + "  esac\n";
}

std::string bash() {
  return "# dlnetbench completion for bash, written by `dlnetbench completion bash`\n"
         "_dlnetbench() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= word\n"
         "  COMPREPLY=()\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n" +
         find_command() + "  done\n" +
         cases("COMPREPLY=($(compgen -W '", "' -- \"$current\"))",
               "COMPREPLY=($(compgen -f -- \"$current\"))") +
         "}\n"
         "complete -o filenames -F _dlnetbench dlnetbench\n";
}

std::string zsh() {
  return "#compdef dlnetbench\n"
         "# dlnetbench completion for zsh, written by `dlnetbench completion zsh`\n"
         "_dlnetbench() {\n"
         "  local current=${words[CURRENT]} previous=${words[CURRENT-1]} command= word\n"
         "  for word in \"${(@)words[2,CURRENT-1]}\"; do\n" +
         find_command() + "  done\n" + cases("compadd -- ", "", "_files") +
         "}\n"
         "if [[ \"${funcstack[1]}\" = _dlnetbench ]]; then _dlnetbench \"$@\"; else compdef _dlnetbench "
         "dlnetbench; fi\n";
}

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish() {
  std::string out =
      "# dlnetbench completion for fish, written by `dlnetbench completion fish`\n"
      "complete -c dlnetbench -f\n";
  std::set<std::string> seen;
  for (const Command* command : visible()) {
    const std::string name(command->name);
    const std::size_t blank = name.find(' ');
    const std::string first = name.substr(0, blank);
    std::string chosen = "__fish_seen_subcommand_from " + first;
    if (seen.insert(first).second) {
      std::string_view summary = command->summary;
      for (const auto& [group, about] : command_groups())
        if (group == first) summary = about;
      out += fmt::format("complete -c dlnetbench -n __fish_use_subcommand -a {} -d {}\n", first,
                         fish_quoted(summary));
    }
    if (blank != std::string::npos) {
      const std::string second = name.substr(blank + 1);
      out +=
          fmt::format("complete -c dlnetbench -n '{}; and not __fish_seen_subcommand_from {}' -a {} -d {}\n",
                      chosen, fmt::join(words_behind(first), " "), second, fish_quoted(command->summary));
      chosen += "; and __fish_seen_subcommand_from " + second;
    }
    for (const Argument& argument : arguments_of(*command)) {
      out += fmt::format("complete -c dlnetbench -n '{}'", chosen);
      if (argument.is_option()) {
        out += " -l " + argument.name.substr(2);
        if (!argument.short_name.empty()) out += " -s " + argument.short_name.substr(1);
      }
      if (argument.takes_file()) out += argument.is_option() ? " -r -F" : " -F";
      else if (argument.is_option() && !argument.is_flag()) out += " -x";
      if (const auto values = values_of(argument); !values.empty())
        out += " -a " + fish_quoted(fmt::format("{}", fmt::join(values, " ")));
      out += " -d " + fish_quoted(argument.help) + "\n";
    }
  }
  return out;
}

}  // namespace

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash();
  if (shell == "zsh") return zsh();
  DLNB_REQUIRE(shell == "fish", shell);
  return fish();
}

}  // namespace dlnb
