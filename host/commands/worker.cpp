// SPDX-License-Identifier: Apache-2.0
// worker: the child process that the campaign starts; not for users.
#include "campaign/worker.hpp"

#include <CLI/CLI.hpp>

#include "commands/command.hpp"

namespace clweave::commands {

Command worker(CLI::App& app) {
  auto* command = app.add_subcommand("worker")->group("");
  const auto parent = std::make_shared<int>();
  command->add_option("--parent", *parent)->required();
  return {command, [parent](const auto&) -> int { serve(*parent); }};
}

}  // namespace clweave::commands
