// SPDX-License-Identifier: Apache-2.0
// merge: merges the results files of many computers into one.
#include "results/merge.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/exit.hpp"
#include "base/log.hpp"
#include "commands/command.hpp"
#include "commands/open_devices.hpp"
#include "commands/own_kernels.hpp"
#include "commands/read_results.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;
  std::string out;
  bool overwrite = false;
};

// Names the first few: of a thousand tasks all may be missing.
void tell_missing(const std::vector<std::string>& missing) {
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < missing.size() && i < most; ++i)
    log_line("missing: {}: no finished file of this task\n", missing[i]);
  if (missing.size() > most) log_line("missing: {} tasks more\n", missing.size() - most);
}

int merge(Options options) {
  take_own({&options.files});
  const std::string out = rows_path(options.out);
  const Merged merged = merge_files(options.files, out, options.overwrite);
  tell_notes(merged.notes);
  tell_missing(merged.missing);
  log_line("clweave: {} rows of {} device{} from {} file{} -> {}{}\n", merged.rows, merged.devices,
           merged.devices == 1 ? "" : "s", merged.files, merged.files == 1 ? "" : "s", out,
           merged.missing.empty() ? "" : fmt::format("; missing tasks: {}", merged.missing.size()));
  return merged.missing.empty() ? success : case_failed;
}

}  // namespace

Command merge(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "merge",
      "Merge results files of many computers into one, with every row; names duplicates and which tasks "
      "(NAME-I-of-N*.csv) are missing, then with exit code 1");
  command
      ->add_option("FILE", options->files,
                   "CSVs of clweave run, and folders of them; samples stay beside them")
      ->required()
      ->check(CLI::ExistingPath)
      ->type_name("FILE|DIR..");
  command->add_option("-o,--output", options->out, "The file for all rows; - is stdout")
      ->type_name("FILE")
      ->required();
  command->add_flag("--overwrite", options->overwrite, "Replace what is in it");
  return {command, [options](const auto&) { return merge(*options); }};
}

}  // namespace clweave::commands
