// SPDX-License-Identifier: Apache-2.0
// compare: several results files side by side: one device before and after, or several devices.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analysis/compare/changes.hpp"
#include "analysis/compare/devices.hpp"
#include "analysis/profile/published.hpp"
#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/log.hpp"
#include "commands/command.hpp"
#include "commands/profile.hpp"
#include "commands/read_results.hpp"
#include "results/results_files.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> files;      // regression: the old ones, when `against` has the new
  std::vector<std::string> against;    // several sessions a side, best measured in turns
  std::vector<std::string> noise;      // sessions with nothing changed between them
  std::string mode = "auto";           // regression, architectures, auto
  std::optional<std::string> fail_on;  // slower, slower:5%, broken, joined by commas
  std::vector<std::string> families;
  double margin = 0.03;  // a ratio within 1 +- this is no change
  bool all = false;      // every case, every table
  bool fingerprint = false;
  std::string format = "text";
};

// Devices of one name on both sides: results of one device before and after.
bool one_device(const ResultsSet& a, const ResultsSet& b) {
  return std::ranges::any_of(a.devices, [&](const DeviceResults& device) {
    return !device.published &&
           std::ranges::find(b.devices, device.name, &DeviceResults::name) != b.devices.end();
  });
}

// Exit code 4 for what the user said to fail on, and where nothing was measured that could have shown it: a
// guard that cannot see does not say that all is well.
Exit verdict_code(const RunComparison& regression, const FailOn& fail_on) {
  for (const auto& row : regression.cases) {
    if (fail_on.broken && row.what == What::broken) return slower;
    if (fail_on.slower_than && row.verdict == Change::slower && row.ratio > 1 + *fail_on.slower_than)
      return slower;
  }
  if (!fail_on.broken && !fail_on.slower_than) return success;
  std::size_t guarded = 0, unseen = 0;  // cases that were ok before
  for (const auto& row : regression.cases) {
    if (!row.old_s) continue;
    ++guarded;
    const bool untimed = row.what == What::broken || row.what == What::apart;
    if (row.what == What::gone || (fail_on.slower_than && untimed)) ++unseen;
  }
  if (guarded > 0 && unseen == 0) return success;
  log_line("--fail-on: {}\n",
           guarded == 0
               ? "no case that was ok before: there is nothing to guard"
               : fmt::format("{} of the {} cases that were ok before were not measured now, or not so "
                             "that they compare",
                             unseen, guarded));
  return slower;
}

int compare(Options options) {
  for (auto* names : {&options.files, &options.against, &options.noise}) pass_over_samples(*names);
  if (options.fingerprint) return fingerprint({.files = options.files, .format = options.format});
  const FailOn fail_on = options.fail_on ? fail_on_of(*options.fail_on) : FailOn();
  const bool two_sides = !options.against.empty() || options.files.size() == 2;
  if (!two_sides && options.mode == "regression")
    throw Error(ErrorCode::usage,
                "a regression has two sides: clweave compare OLD.csv NEW.csv, or OLD1.csv OLD2.csv --against "
                "NEW1.csv NEW2.csv");
  if (options.noise.size() == 1)
    throw Error(ErrorCode::usage,
                "--noise takes two or more files, measured with nothing changed between them");
  const auto& families = all_families();
  const auto read = [&](const std::vector<std::string>& files) {
    return read_results(unpacked(files), families, Samples::read);
  };
  ResultsSet before =
      read(options.against.empty() && two_sides ? std::vector{options.files.front()} : options.files);
  ResultsSet after;
  if (two_sides) after = read(options.against.empty() ? std::vector{options.files.back()} : options.against);

  const bool regression =
      options.mode == "regression" ||
      (options.mode == "auto" && two_sides && (!options.against.empty() || one_device(before, after)));
  if (!regression) {
    if (!options.noise.empty() || options.fail_on || !options.against.empty())
      throw Error(
          ErrorCode::usage,
          "--against, --noise and --fail-on compare one device before and after, but these are different "
          "devices; --mode regression takes them for one");
    before.merge(std::move(after));
    before.keep(options.families);
    if (before.devices.size() < 2)
      throw Error(ErrorCode::usage,
                  fmt::format("{}: results of one device; compare takes two files of one device, or "
                              "results of several devices",
                              fmt::join(options.files, ", ")));
    if (options.format == "csv") tell_notes(before.notes);
    Report report = report_of(compare_devices(before, families), !options.families.empty(), options.all);
    if (options.all || !options.families.empty()) {
      std::vector<const Family*> every;
      for (const auto& family : families) every.push_back(&family);
      add_published(report, before, every);
    }
    return print(report, options.format);
  }
  std::vector<ResultsSet> noise;
  for (const auto& file : options.noise) noise.push_back(read({file}));
  for (auto* set : {&before, &after}) set->keep(options.families);
  RunComparison found = compare_runs(before, after, noise, {.margin = options.margin});
  for (const auto& one : before.files) {
    for (const auto& other : after.files) {
      if (same_content(one, other))
        found.notes.push_back(
            fmt::format("{} {} the same file: of a comparison with itself there is nothing to learn",
                        one == other ? one + " is on both sides:" : fmt::format("{} and {} are", one, other),
                        one == other ? "it is" : ""));
    }
  }
  if (options.format == "csv") tell_notes(found.notes);  // the other formats have a place for them
  if (const int code = print(report_of(found, options.all), options.format); code != success) return code;
  return verdict_code(found, fail_on);
}

}  // namespace

Command compare(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command =
      app.add_subcommand("compare",
                         "One device before and after a change: what is faster or slower, and how sure "
                         "that is; several devices: which variant is best where");
  command
      ->add_option("FILE", options->files,
                   "CSVs of clweave run, archives of its --share, folders of these; and "
                   "results/published/figures.csv beside different devices")
      ->required()
      ->check(CLI::ExistingPath);
  command
      ->add_option("--against", options->against,
                   "The new side, where the files are several sessions of the old one")
      ->type_name("FILE..")
      ->check(CLI::ExistingPath);
  command
      ->add_option(
          "--noise", options->noise,
          "Sessions of one device with nothing changed between them: what they differ by is no change")
      ->type_name("FILE..")
      ->check(CLI::ExistingPath);
  command->add_option("--mode", options->mode, "auto: by the devices in two files")
      ->type_name("HOW")
      ->check(CLI::IsMember({"auto", "regression", "architectures"}));
  command->add_option("--margin", options->margin, "A ratio within 1 +- this is no change")
      ->type_name("F")
      ->check(within(0.0, 10.0));
  command
      ->add_option_function<std::string>(
          "--fail-on", [options = options.get()](const std::string& what) { options->fail_on = what; },
          "Exit with 4 on a case that is slower:5% (SLOWER, by more than that), slower, or broken; "
          "several with commas. Also where a case that was ok before was not measured now")
      ->type_name("WHAT");
  add_families(*command, options->families, "Only these families, with every variant [all]");
  command->add_flag("--all", options->all, "Every case, every table");
  auto* fingerprints =
      command->add_flag("--fingerprint", options->fingerprint,
                        "Instead: one card per device, side by side, as clweave fingerprint prints them");
  for (const char* other : {"--against", "--noise", "--mode", "--margin", "--fail-on", "--family", "--all"})
    fingerprints->excludes(command->get_option(other));
  add_formats(*command, options->format);
  return {command, [options](const auto&) { return compare(*options); }};
}

}  // namespace clweave::commands
