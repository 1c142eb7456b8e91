// SPDX-License-Identifier: Apache-2.0
// roofline: every kernel of results files under the ceilings measured with it.
#include "answers/roofline.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/exit.hpp"
#include "base/terminal.hpp"
#include "commands/command.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;
  bool csv = false;
};

int roofline(const Options& options) {
  const auto& files = options.files;
  const auto records = records_of_files(files, all_families());
  const auto all = rooflines_of(records);
  if (all.empty())
    throw Error(Kind::io, "no row with a time in " + fmt::format("{}", fmt::join(files, ", ")));
  for (std::size_t i = 0; i < all.size(); ++i)
    put(STDOUT_FILENO,
        options.csv ? roofline_csv(all[i], i == 0) : roofline_text(all[i], screen_of(STDOUT_FILENO)));
  return fine;
}

}  // namespace

Command roofline(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "roofline", "Place every kernel of results files under the ceilings measured with it");
  add_files(*command, options->files);
  command->add_flag("--csv", options->csv, "The same as CSV");
  return {command, [options](const auto&) { return roofline(*options); }};
}

}  // namespace clweave::commands
