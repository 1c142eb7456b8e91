// SPDX-License-Identifier: Apache-2.0
// completion: what shells complete the words of clweave by, and the manual's page; all made of the options
// themselves.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <map>

#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/command.hpp"
#include "commands/completions.hpp"
#include "commands/man_page.hpp"
#include "commands/option_table.hpp"

namespace clweave::commands {

namespace {

const std::map<std::string, std::string (*)(const std::vector<CommandEntry>&)>& printers_by_name() {
  static const std::map<std::string, std::string (*)(const std::vector<CommandEntry>&)> made = {
      {"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}, {"man", man_page}};
  return made;
}

}  // namespace

Command completion(CLI::App& app) {
  auto* command = app.add_subcommand("completion",
                                     "What a shell completes the words of clweave by: source <(clweave "
                                     "completion bash); or its page for man");
  const auto shell = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const auto& [name, printer] : printers_by_name()) names.push_back(name);
  command->add_option("SHELL", *shell, "Whose format")->required()->check(CLI::IsMember(names));
  return {command, [&app, shell](const auto&) {
            put(STDOUT_FILENO, printers_by_name().at(*shell)(option_table(app)));
            return success;
          }};
}

}  // namespace clweave::commands
