// SPDX-License-Identifier: Apache-2.0
// compare: the former name of compare-runs, compare-devices and, with --fingerprint, profile. It compares
// runs if one device is on both sides, else devices.
#include "commands/compare.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.hpp"
#include "commands/command.hpp"
#include "commands/own_kernels.hpp"
#include "commands/profile.hpp"
#include "results/results_files.hpp"

namespace clweave::commands {

namespace {

struct Options : CompareOptions {
  std::string mode = "auto";
  bool profile = false;
};

bool one_device(const ResultsSet& a, const ResultsSet& b) {
  return std::ranges::any_of(a.devices, [&](const DeviceResults& device) {
    return !device.published &&
           std::ranges::find(b.devices, device.name, &DeviceResults::name) != b.devices.end();
  });
}

void refuse_runs_options(const Options& options) {
  if (!options.noise.empty() || options.fail_on || !options.against.empty())
    throw Error(
        ErrorCode::usage,
        "--against, --noise and --fail-on compare one device before and after, but these are different "
        "devices; clweave compare-runs takes them for one");
}

int compare(Options options) {
  take_own({&options.files, &options.against, &options.noise});
  for (auto* names : {&options.files, &options.against, &options.noise}) pass_over_samples(*names);
  if (options.profile) return print_profiles({.files = options.files, .format = options.format});
  if (options.fail_on) fail_on_of(*options.fail_on);  // throws before files are read
  if (options.mode == "regression" || (options.mode == "auto" && options.has_two_sides())) {
    auto [before, after] = read_sides(options);
    if (options.mode == "regression" || !options.against.empty() || one_device(before, after))
      return print_runs(options, std::move(before), std::move(after));
    refuse_runs_options(options);
    before.merge(std::move(after));
    return print_devices(options, std::move(before));
  }
  refuse_runs_options(options);
  return print_devices(options, read_all(options));
}

}  // namespace

Command compare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand(
      "compare", "The former name of compare-runs, if one device is on both sides, and of compare-devices");
  command->group("");  // not in the help
  add_files(*command, options->files);
  add_runs_options(*command, *options);
  command->add_option("--mode", options->mode, "auto: by the devices in two files")
      ->type_name("HOW")
      ->check(one_of({"auto", "regression", "architectures"}));
  add_families(*command, options->families, "Only these families, with every variant [all]");
  command->add_flag("--all", options->all, "Every case, every table");
  auto* profile = command->add_flag("--fingerprint", options->profile, "The former name of clweave profile");
  for (const char* other : {"--against", "--noise", "--mode", "--margin", "--fail-on", "--family", "--all"})
    profile->excludes(command->get_option(other));
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return compare(*options); }};
}

}  // namespace clweave::commands
