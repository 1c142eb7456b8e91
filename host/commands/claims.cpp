// SPDX-License-Identifier: Apache-2.0
// claims: holds the published claims against results files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analysis/claims/load.hpp"
#include "analysis/claims/report.hpp"
#include "commands/command.hpp"
#include "commands/read_results.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> claims;  // ids; empty: all
  std::string claims_file;          // empty: the built-in one
  std::string format = "text";
  bool rows = false;
};

int claims(const Options& options) {
  const auto& families = all_families();
  const auto all = chosen_claims(load_claims(options.claims_file), options.claims);
  const ResultsSet& results = read_with_notes(options.files);
  std::vector<DeviceClaimResults> devices;
  const auto every = device_rows(results);
  for (const auto& rows : every) {
    auto& device = devices.emplace_back(DeviceClaimResults{rows.results->name, rows.name(), {}});
    for (const auto& claim : all) {
      const auto claim_results = claim_results_of(claim, rows, families, every);
      device.claim_results.insert(device.claim_results.end(), claim_results.begin(), claim_results.end());
    }
    for (auto& drawn : rows.drawn) drawn = {};  // most of the memory
  }
  return print(report_of(devices, options.rows), options.format);
}

}  // namespace

Command claims(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "claims", "Hold the published claims against results files: verdict, number and published number");
  add_files(*command, options->files);
  add_formats(*command, options->format);
  command->add_flag("--rows", options->rows, "Show which rows each number comes from");
  add_claims(*command, options->claims, options->claims_file);
  return {command, [options](const auto&) { return claims(*options); }};
}

}  // namespace clweave::commands
