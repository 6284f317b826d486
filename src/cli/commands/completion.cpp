// SPDX-License-Identifier: Apache-2.0
#include <dlnb/error.hpp>

#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/output.hpp"

namespace dlnb::commands {
namespace {

std::vector<Argument> arguments() {
  return {{.name = "shell", .value = "SHELL", .help = "the shell", .choices = {"bash", "zsh", "fish"}}};
}

int run(const Arguments& given) {
  const std::string shell = given.text("shell");
  if (shell.empty()) throw UserError("completion", "no shell was named", "choose one of: bash, zsh, fish");
  print(completion_script(shell));
  return int(Exit::success);
}

}  // namespace

extern constinit const Command completion{
    .name = "completion",
    .summary = "a script that completes commands, options and names in your shell",
    .examples =
        "completion bash > ~/.local/share/bash-completion/completions/dlnetbench\n"
        "completion zsh > ~/.zfunc/_dlnetbench\n"
        "completion fish > ~/.config/fish/completions/dlnetbench.fish",
    .arguments = arguments,
    .run = run,
};

}  // namespace dlnb::commands
