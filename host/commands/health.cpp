// SPDX-License-Identifier: Apache-2.0
// health: holds a device against a reference, pass or fail.
#include "analysis/fleet/health.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/terminal.hpp"
#include "commands/command.hpp"
#include "commands/read_results.hpp"
#include "os/replacement.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;
  std::string reference, emit;
  std::string format = "text";
};

void write_reference(const std::string& path, const std::vector<Reference>& references) {
  for (const auto& one : references) {
    if (one.families.empty())
      throw Error(ErrorCode::usage,
                  fmt::format("no family of {} was measured well enough to judge others by it: measure "
                              "more of it, or leave its files out",
                              one.device));
  }
  // Throws for any other text, which would be lost.
  std::error_code none;
  if (std::filesystem::is_regular_file(path, none) && std::filesystem::file_size(path, none) > 0)
    references_in(json_text(path), path);
  const std::string text = reference_text(references);
  references_in(text, path);  // what cannot be read would be noticed in the job that needs it
  if (path == "-")
    put(stdout, text);
  else
    replace_file(path, text);
  for (const auto& one : references)
    log_line("clweave: {}: times of {} session{} of {}, and limits for {} families{}\n", path, one.sessions,
             one.sessions == 1 ? "" : "s", one.device, one.families.size(),
             one.sessions == 1 ? "; more sessions tell how much of that is noise" : "");
}

int health(const Options& options) {
  const ResultsSet& set = read_with_notes(options.files);
  if (!options.emit.empty()) {
    write_reference(options.emit, references_of(set));
    return success;
  }
  if (options.reference.empty())
    throw Error(
        ErrorCode::usage,
        "--reference FILE is required: clweave health GOOD1.csv GOOD2.csv --emit-reference FILE makes one");
  const auto devices = health_of(set, references_in(json_text(options.reference), options.reference));
  if (const int code = print(report_of(devices), options.format); code != success) return code;
  Health worst = Health::pass;
  for (const auto& device : devices) worst = std::max(worst, device.health());
  return worst == Health::fail ? to_be_drained : worst == Health::unmeasured ? case_failed : success;
}

}  // namespace

Command health(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command =
      app.add_subcommand("health",
                         "Hold a device against a reference, for a job prolog: pass or fail per "
                         "family; exit code 6 for a fail, 1 if too little was measured to tell, or "
                         "at least half of the device's processes pass");
  add_files(*command, options->files);
  command->add_option("--reference", options->reference, "A file of --emit-reference")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--emit-reference", options->emit,
                   "Instead make a reference of these sessions of good devices; several tell how much is "
                   "noise; - is stdout")
      ->type_name("FILE")
      ->excludes("--reference");
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return health(*options); }};
}

}  // namespace clweave::commands
