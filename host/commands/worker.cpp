// SPDX-License-Identifier: Apache-2.0
// worker: not for people: what the supervisor starts.
#include "campaign/worker.hpp"

#include <CLI/CLI.hpp>

#include "commands/command.hpp"

namespace clweave::commands {

Command worker(CLI::App& app) {
  return {app.add_subcommand("worker")->group(""), [](const auto&) { return serve(); }};
}

}  // namespace clweave::commands
