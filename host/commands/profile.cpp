// SPDX-License-Identifier: Apache-2.0
// fingerprint: one card per device.
#include "commands/profile.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analysis/profile/profile.hpp"
#include "analysis/rows/baselines.hpp"
#include "commands/command.hpp"
#include "commands/read_results.hpp"

namespace clweave::commands {

int fingerprint(const FingerprintOptions& options) {
  const auto& families = all_families();
  const ResultsSet& results = read_with_notes(options.files, families);
  std::vector<Profile> cards;
  for (const auto& rows : device_rows(results)) cards.push_back(profile_of(rows, families));
  Report out = report_of(cards, options.rows);
  for (const auto* device : measured(results)) add_baselines(out, results, *device, families);
  return print(out, options.format);
}

Command fingerprint(CLI::App& app) {
  auto options = std::make_shared<FingerprintOptions>();
  auto* command = app.add_subcommand(
      "fingerprint", "What results files tell of each device: widths, latencies, rates, what to ask of it");
  add_files(*command, options->files);
  add_formats(*command, options->format);
  command->add_flag("--rows", options->rows, "Show which rows each number comes from");
  return {command, [options](const auto&) { return fingerprint(*options); }};
}

}  // namespace clweave::commands
