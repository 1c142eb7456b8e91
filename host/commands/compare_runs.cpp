// SPDX-License-Identifier: Apache-2.0
// compare_runs: one device before and after a change.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analysis/compare/changes.hpp"
#include "base/error.hpp"
#include "base/exit.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "commands/command.hpp"
#include "commands/compare.hpp"
#include "commands/own_kernels.hpp"
#include "commands/read_results.hpp"
#include "results/results_files.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

bool slower_together(const RunComparison& comparison, double than) {
  return std::ranges::any_of(comparison.devices, [&](const auto& device) {
    return std::ranges::any_of(device.together, [&](const auto& group) {
      return group.verdict == Change::slower && group.ratio > 1 + than;
    });
  });
}

// Says which common changes decide nothing, so that they do not pass in silence.
void tell_undecided_together(const RunComparison& comparison) {
  for (const auto& device : comparison.devices) {
    for (const auto& group : device.together) {
      if (group.units_ratio == 1) continue;
      log_line("--fail-on: {} cases of {} changed by {:.3f}x, but whether together is undecided: {}\n",
               group.cases, device.device, group.ratio,
               group.odd_unit.empty() ? "the runs of a side differ as much"
                                      : group.odd_unit + " differs from its side's others");
    }
  }
}

bool too_undecided(const RunComparison& comparison, double most) {
  const std::size_t undecided = comparison.count(Change::undecided),
                    of = comparison.count(Transition::compared);
  if (static_cast<double>(undecided) <= most * static_cast<double>(of)) return false;
  log_line("--fail-on: {} of {} compared cases are undecided\n", undecided, of);
  return true;
}

// Returns exit code 4 for the changes that --fail-on names, and also if nothing was measured that could show
// them: a check without data must not pass.
Exit verdict_code(const RunComparison& comparison, const FailOn& fail_on) {
  for (const auto& row : comparison.cases) {
    if (fail_on.broken && row.transition == Transition::broken) return slower;
    if (fail_on.slower_than && row.verdict == Change::slower && row.ratio > 1 + *fail_on.slower_than)
      return slower;
  }
  if (fail_on.together_than) {
    if (slower_together(comparison, *fail_on.together_than)) return slower;
    tell_undecided_together(comparison);
  }
  if (fail_on.undecided && too_undecided(comparison, *fail_on.undecided)) return slower;
  if (!fail_on.any()) return success;
  if (comparison.of_other_drivers > 0) {
    log_line("--fail-on: {} cases of the new side are of another driver, and not compared\n",
             comparison.of_other_drivers);
    return slower;
  }
  std::size_t slowed = 0;
  for (const auto& device : comparison.devices) slowed += device.slowed;
  const bool all_slowed = slowed > 0 && slowed == comparison.count(Transition::compared);
  if (slowed > 0)
    log_line("--fail-on: {} cases decide nothing, as the machine was not quiet; {}\n",
             all_slowed ? fmt::format("all {}", slowed) : fmt::format("{}", slowed),
             all_slowed ? "measure again, --wait-quiet waits for a quiet moment"
                        : "add undecided to --fail-on to refuse that");
  if (all_slowed && (fail_on.slower_than || fail_on.together_than)) return slower;
  std::size_t guarded = 0, unseen = 0;  // of the cases that were ok before
  for (const auto& row : comparison.cases) {
    if (!row.old_s) continue;
    ++guarded;
    const bool untimed = row.transition == Transition::broken || row.transition == Transition::apart;
    if (row.transition == Transition::gone || (fail_on.slower_than && untimed)) ++unseen;
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

}  // namespace

FailOn fail_on_of(const std::string& text) {
  const auto refuse = [&] {
    return Error(ErrorCode::usage,
                 "--fail-on " + text +
                     ": write slower, slower:5%, together:5%, undecided:50%, broken, or several with commas");
  };
  FailOn out;
  if (text.find_first_not_of(',') == std::string::npos) throw refuse();
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, comma - at);
    at = comma + 1;
    const auto colon = word.find(':');
    const std::string what = word.substr(0, colon);
    if (word == "broken") {
      out.broken = true;
      continue;
    }
    double percent = 0;
    if (colon != std::string::npos) {
      std::string number = word.substr(colon + 1);
      if (number.ends_with('%')) number.pop_back();
      const auto value = number_of<double>(number);
      if (!value || !(*value >= 0)) throw refuse();
      percent = *value;
    }
    auto* than = what == "slower"      ? &out.slower_than
                 : what == "together"  ? &out.together_than
                 : what == "undecided" ? &out.undecided
                                       : nullptr;
    if (than == nullptr) throw refuse();
    *than = percent / 100;
  }
  return out;
}

std::pair<ResultsSet, ResultsSet> read_sides(const CompareOptions& options) {
  auto files = options.files, against = options.against;
  for (auto* names : {&files, &against}) pass_over_samples(*names);
  if (against.empty() && files.size() != 2)
    throw Error(ErrorCode::usage,
                "comparing runs takes two sides: clweave compare-runs OLD.csv NEW.csv, or OLD1.csv OLD2.csv "
                "--against NEW1.csv NEW2.csv");
  const auto read = [](const std::vector<std::string>& of_side) {
    return read_known(unpacked(of_side), Samples::read);
  };
  if (!against.empty()) return {read(files), read(against)};
  return {read({files.front()}), read({files.back()})};
}

int print_runs(const CompareOptions& options, ResultsSet before, ResultsSet after) {
  const FailOn fail_on = options.fail_on ? fail_on_of(*options.fail_on) : FailOn();
  std::vector<std::string> quiet = options.noise;
  pass_over_samples(quiet);
  if (quiet.size() == 1)
    throw Error(ErrorCode::usage,
                "--noise takes two or more files, measured with nothing changed between them");
  std::vector<ResultsSet> noise;
  for (const auto& file : quiet) noise.push_back(read_known(unpacked({file}), Samples::read));
  for (auto* set : {&before, &after}) set->keep(options.families);
  RunComparison found = compare::compare_runs(before, after, noise, {.margin = options.margin});
  for (const auto& one : before.files) {
    for (const auto& other : after.files) {
      if (!same_content(one, other)) continue;
      found.notes.push_back(
          one == other
              ? one + " is on both sides: it is the same file: a comparison with itself tells nothing"
              : fmt::format("{} and {} are the same file: a comparison with itself tells nothing", one,
                            other));
    }
  }
  if (!printer_named(options.format).has_notes) tell_notes(found.notes);
  if (const int code = print(report_of(found, options.all), options.format); code != success) return code;
  return verdict_code(found, fail_on);
}

void add_runs_options(CLI::App& command, CompareOptions& options) {
  command
      .add_option("--against", options.against,
                  "The new side, if the files are several sessions of the old one")
      ->type_name("FILE..")
      ->check(CLI::ExistingPath);
  command
      .add_option("--noise", options.noise,
                  "Sessions of one device with nothing changed between them: their differences are noise")
      ->type_name("FILE..")
      ->check(CLI::ExistingPath);
  command.add_option("--margin", options.margin, "A ratio within 1 +- this is no change")
      ->type_name("F")
      ->check(within(0.0, 10.0));
  command
      .add_option_function<std::string>(
          "--fail-on", [&options](const std::string& what) { options.fail_on = what; },
          "Exit with 4 on a case that is slower:5% (SLOWER, by more than that), slower, or broken; on cases "
          "that "
          "are together:5% slower, whoever did it; if more than undecided:50% of the cases are undecided; "
          "several "
          "with commas. Also if a case that was ok before was not measured now, or, of slower and together, "
          "no case quietly")
      ->type_name("WHAT");
}

Command compare_runs(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  auto* command = app.add_subcommand("compare-runs",
                                     "Compare one device before and after a change: which cases are faster "
                                     "or slower, and how certain that is");
  add_files(*command, options->files);
  add_runs_options(*command, *options);
  add_families(*command, options->families, "Only these families [all]");
  command->add_flag("--all", options->all, "Every case");
  add_formats(*command, options->format);
  return {command, [options](const auto&) {
            take_own({&options->files, &options->against, &options->noise});
            auto [before, after] = read_sides(*options);
            return print_runs(*options, std::move(before), std::move(after));
          }};
}

}  // namespace clweave::commands
