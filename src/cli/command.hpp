// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <dlnb/registry.hpp>

namespace dlnb {

/// One option ("--format") or positional argument ("results") of a command.
struct Argument {
  std::string name;
  std::string short_name;  ///< "-o"; empty where there is none
  std::string value;       ///< what help shows for the value, "FILE"; empty: a flag
  std::string help;
  std::string fallback;              ///< the default as the user would write it; empty: none
  std::vector<std::string> choices;  ///< where the set is closed; anything else is refused
  /// What shell completion offers where other values are right as well; asked only then, for it may read
  /// files.
  std::vector<std::string> (*known)() = nullptr;
  bool repeatable = false;
  std::string group = "Options";  ///< heading in help

  bool is_option() const { return name.starts_with('-'); }
  bool is_flag() const { return is_option() && value.empty(); }
  bool takes_file() const { return value.starts_with("FILE"); }
};

/// What was typed after the command's name. Options that were not given are absent.
class Arguments {
 public:
  void add(const std::string& name, std::string value) { given_[name].push_back(std::move(value)); }

  bool has(const std::string& name) const { return given_.contains(name); }
  /// The value of an option that may be given once, or `fallback`.
  std::string text(const std::string& name, const std::string& fallback = {}) const;
  std::vector<std::string> all(const std::string& name) const;

  std::vector<std::string> line;  ///< the words behind the program's name, as typed

 private:
  std::map<std::string, std::vector<std::string>> given_;
};

/// A command of the program. One file each in commands/.
struct Command {
  std::string_view name;  ///< "run", or "schedule print" for a command inside a command
  std::string_view summary;
  std::string_view examples;  ///< one a line, without the program's name
  std::vector<Argument> (*arguments)();
  int (*run)(const Arguments&);  ///< returns the exit code; throws Error
  bool hidden = false;           ///< for this project's own tools
};
namespace commands {
Registry<Command> all();
}

}  // namespace dlnb
