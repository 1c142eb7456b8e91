// SPDX-License-Identifier: Apache-2.0
// compare_devices: several devices side by side: which variant is best where.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "analysis/compare/devices.hpp"
#include "analysis/profile/published.hpp"
#include "base/error.hpp"
#include "base/exit.hpp"
#include "commands/command.hpp"
#include "commands/compare.hpp"
#include "commands/read_results.hpp"
#include "results/results_files.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

ResultsSet read_all(const CompareOptions& options) {
  std::vector<std::string> files = options.files;
  pass_over_samples(files);
  return read_known(unpacked(files), Samples::read);
}

int print_devices(const CompareOptions& options, ResultsSet set) {
  set.keep(options.families);
  if (set.devices.size() < 2)
    throw Error(ErrorCode::usage,
                fmt::format("{}: results of one device; clweave compare-runs takes two files of one device, "
                            "clweave compare-devices results of several devices",
                            fmt::join(options.files, ", ")));
  if (!printer_named(options.format).has_notes) tell_notes(set.notes);
  const auto& families = all_families();
  const bool chosen = !options.families.empty();
  Report report = report_of(compare::compare_devices(set, families), chosen, options.all);
  if (options.all || chosen) {
    std::vector<const Family*> every;
    for (const auto& family : families) every.push_back(&family);
    add_published(report, set, every);
  }
  return print(report, options.format);
}

Command compare_devices(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  auto* command = app.add_subcommand(
      "compare-devices",
      "Compare several devices: which variant is best where, and the cost of one variant for all");
  command
      ->add_option("FILE", options->files,
                   "CSVs of clweave run, archives of its --share, folders of these; and "
                   "results/published/figures.csv beside them")
      ->required()
      ->check(CLI::ExistingPath);
  add_families(*command, options->families, "Only these families, with every variant [all]");
  command->add_flag("--all", options->all, "Every variant of every family");
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return print_devices(*options, read_all(*options)); }};
}

}  // namespace clweave::commands
