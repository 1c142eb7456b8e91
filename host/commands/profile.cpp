// SPDX-License-Identifier: Apache-2.0
// profile: a device profile for each device.
#include "commands/profile.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analysis/profile/profile.hpp"
#include "analysis/rows/baselines.hpp"
#include "commands/command.hpp"
#include "commands/read_results.hpp"

namespace clweave::commands {

int print_profiles(const ProfileOptions& options) {
  const auto& families = all_families();
  const ResultsSet& results = read_with_notes(options.files);
  std::vector<Profile> profiles;
  for (const auto& rows : device_rows(results)) profiles.push_back(profile_of(rows, families));
  Report out = report_of(profiles, options.rows);
  for (const auto* device : measured(results)) add_baselines(out, results, *device, families);
  return print(out, options.format);
}

Command profile(CLI::App& app) {
  auto options = std::make_shared<ProfileOptions>();
  auto* command = app.add_subcommand(
      "profile",
      "Show what results files tell of each device: widths, latencies, rates, and what to measure next");
  add_files(*command, options->files);
  add_formats(*command, options->format);
  command->add_flag("--rows", options->rows, "Show which rows each number comes from");
  return {command, [options](const auto&) { return print_profiles(*options); }};
}

}  // namespace clweave::commands
