// SPDX-License-Identifier: Apache-2.0
// report: makes one HTML page of results files, which opens anywhere without a network.
#include <CLI/CLI.hpp>

#include "base/exit.hpp"
#include "commands/command.hpp"
#include "commands/write_page.hpp"

namespace clweave::commands {

Command report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  options->out = "report.html";
  auto* command = app.add_subcommand(
      "report", "Write results files as one HTML page with charts and tables, which needs no network");
  command
      ->add_option("FILE", options->files,
                   "CSVs of clweave run, archives of its --share, folders of these; with them "
                   "results/published/figures.csv for published figures, and the output of the programs of "
                   "host/baselines")
      ->required()
      ->check(CLI::ExistingPath);
  command
      ->add_option(
          "--against", options->against,
          "The same device after a change: the page begins with the cases that became faster or slower")
      ->type_name("FILE..")
      ->check(CLI::ExistingPath);
  command->add_option("-o,--output", options->out, "The page")->type_name("FILE")->capture_default_str();
  return {command, [options](const auto&) {
            write_report(*options);
            return success;
          }};
}

}  // namespace clweave::commands
