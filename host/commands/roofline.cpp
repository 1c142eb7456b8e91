// SPDX-License-Identifier: Apache-2.0
// roofline: every kernel of results files below the peaks measured with it.
#include "analysis/profile/roofline.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands/command.hpp"
#include "commands/read_results.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;
  std::string format = "text";
};

int roofline(const Options& options) {
  const auto& files = options.files;
  const ResultsSet& results = read_with_notes(files);
  const auto all = rooflines_of(results);
  if (all.empty())
    throw Error(ErrorCode::io, "no row with a time in " + fmt::format("{}", fmt::join(files, ", ")));
  return print(report_of(all), options.format);
}

}  // namespace

Command roofline(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command =
      app.add_subcommand("roofline", "Place every kernel of results files below the peaks measured with it");
  add_files(*command, options->files);
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return roofline(*options); }};
}

}  // namespace clweave::commands
