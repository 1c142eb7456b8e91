// SPDX-License-Identifier: Apache-2.0
// fleet: compares identical devices: which one is to be drained.
#include "analysis/fleet/fleet.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/exit.hpp"
#include "base/log.hpp"
#include "commands/command.hpp"
#include "commands/own_kernels.hpp"
#include "commands/read_results.hpp"
#include "os/temporary_folder.hpp"
#include "results/merge.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> baseline;
  std::string format = "text";
  bool all = false;
};

// Merges the files into a temporary one, so that their devices are told apart.
class MergedFile {
 public:
  explicit MergedFile(const std::vector<std::string>& names) {
    path_ = (folder_.emplace().path() / "fleet.csv").string();
    const Merged merged = merge_files(names, path_, true);
    tell_notes(merged.notes);
    if (!merged.missing.empty())
      log_line("note: missing tasks: {}; clweave merge names them\n", merged.missing.size());
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::optional<TemporaryFolder> folder_;
};

// Reads a baseline: merged if that tells more devices apart, as those of several computers at one address;
// else its files as they are, as each is a session of the device.
const ResultsSet& read_baseline(const std::vector<std::string>& files) {
  const MergedFile merged(files);
  const std::size_t apart = read_known({merged.path()}).devices.size();
  const bool is_told_apart = apart > read_known(unpacked(files)).devices.size();
  return read_with_notes(is_told_apart ? std::vector<std::string>{merged.path()} : files);
}

int fleet(Options options) {
  take_own({&options.files, &options.baseline});
  const MergedFile merged(options.files);
  const ResultsSet& set = read_with_notes({merged.path()});
  const ResultsSet* baseline = options.baseline.empty() ? nullptr : &read_baseline(options.baseline);
  const auto fleets = fleets_of(set, baseline);
  if (const int code = print(report_of(fleets, options.all), options.format); code != success) return code;
  const auto any = [&](DeviceVerdict verdict) {
    return std::ranges::any_of(fleets, [&](const Fleet& one) { return one.count(verdict) > 0; });
  };
  const bool unsure = any(DeviceVerdict::unjudged) || any(DeviceVerdict::again);
  return any(DeviceVerdict::drain) ? to_be_drained : unsure ? case_failed : success;
}

}  // namespace

Command fleet(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "fleet",
      "Compare identical devices: names outliers and what their slow cases have in common, with one false "
      "alarm in a hundred fleets; exit code 6 if a device is to be drained, 1 if one could not be judged or "
      "is to be measured again");
  command
      ->add_option(
          "FILE", options->files,
          "A file of clweave merge, or the files and folders that it would merge; with them the FILE.cl "
          "of your own kernels")
      ->required()
      ->check(CLI::ExistingPath)
      ->type_name("FILE|DIR..");
  command
      ->add_option("--baseline", options->baseline,
                   "Compare with these times of good devices, not with each other: then all may be outliers")
      ->type_name("FILE..")
      ->check(CLI::ExistingFile);
  command->add_flag("--all", options->all, "Every device, and every family of those named");
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return fleet(*options); }};
}

}  // namespace clweave::commands
