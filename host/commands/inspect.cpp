// SPDX-License-Identifier: Apache-2.0
// inspect: offline compilation of a case: registers, spills, ISA, and on request source and build log.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "base/shell_word.hpp"
#include "base/terminal.hpp"
#include "commands/command.hpp"
#include "commands/open_devices.hpp"
#include "commands/own_kernels.hpp"
#include "compilers/inspect_report.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

struct Options {
  std::vector<std::string> words;  // a case id, files of users' kernels
  std::string id;
  Selection selection;
  std::vector<std::string> targets, devices;
  std::string kernels, format = "text";
  bool every = false;
  std::string into;  // a folder for the reports of --every
  InspectionText text;
};

// Returns the one case that is meant. Throws `usage`, saying how to choose one.
Job chosen_job(const Options& options, const std::vector<Family>& families) {
  if (!options.id.empty()) return job_named(families, options.id);
  const Selection& wanted = options.selection;
  if (wanted.families.empty() && wanted.set.empty() && wanted.where.empty() && wanted.filter.empty())
    throw Error(ErrorCode::usage,
                "which case? clweave inspect copy/kernel=ilp/ilp=4 (what it leaves out has its default), "
                "or --family, --set and --where as of clweave run, or --every kernel's first case");
  Selection selection = wanted;
  selection.peaks = false;
  auto jobs = select_jobs(families, selection);
  if (jobs.size() == 1) return jobs.front();
  // Shows the axes that tell them apart, as they can be typed.
  std::vector<std::string> ways;
  std::vector<std::string> names;
  for (const auto& job : jobs) {
    if (std::ranges::find(names, job.family->name) == names.end()) names.push_back(job.family->name);
  }
  if (names.size() > 1) {
    ways.push_back(fmt::format("--family {}", fmt::join(names, "|")));
  } else {
    for (const auto& axis : jobs.front().family->axes) {
      std::vector<std::string> values;
      for (const auto& job : jobs) {
        const std::string value = text_of(job.at.at(axis.name));
        if (std::ranges::find(values, value) == values.end()) values.push_back(value);
      }
      if (values.size() > 1) ways.push_back(fmt::format("--where {}={}", axis.name, fmt::join(values, "|")));
    }
  }
  std::string files, first;
  for (const auto& word : options.words) {
    if (is_own(word)) files += " " + shell_word(word);
  }
  for (std::size_t j = 0; j < std::min<std::size_t>(jobs.size(), 3); ++j)
    first += fmt::format("\n  clweave inspect {}{}", shell_word(short_id(jobs[j])), files);
  throw Error(ErrorCode::usage, fmt::format("{} cases match; choose by {}; or name one:{}{}", jobs.size(),
                                            fmt::join(ways, ", "), first, jobs.size() > 3 ? "\n  .." : ""));
}

// Returns the targets asked for, or all whose compilers are installed; the needs of the others go to
// `missing`.
std::vector<const Target*> chosen_targets(const Options& options, std::vector<std::string>& missing) {
  std::vector<const Target*> out;
  const bool all = options.targets.empty() && options.devices.empty();
  for (const auto& name : options.targets) {
    if (std::ranges::find(target_names(), name) == target_names().end()) target_of(name);  // refuses it
  }
  for (const auto& name : all ? target_names() : options.targets) {
    const Target& target = target_of(name);
    if (target.missing.empty())
      out.push_back(&target);
    else
      missing.push_back(fmt::format("{} ({}) needs {}", name, target.meaning, target.missing));
  }
  if (out.empty() && options.devices.empty())
    throw Error(ErrorCode::no_device,
                fmt::format("no compiler here for what is asked:\n  {}", fmt::join(missing, "\n  ")));
  return out;
}

int inspect_case(Options options) {
  std::vector<std::string> own;
  std::ranges::copy_if(options.words, std::back_inserter(own), is_own);
  const auto names = load_own(own);
  if (options.selection.families.empty() && options.id.empty()) options.selection.families = names;
  const auto& families = all_families();
  std::vector<std::string> missing;
  if (options.every) {
    if (!options.devices.empty()) throw Error(ErrorCode::usage, "--every is for targets: leave --device out");
    const Survey survey =
        survey_of(families, options.selection, chosen_targets(options, missing), options.kernels);
    const Report report = survey_report(survey, missing);
    if (options.into.empty()) return print(report, options.format);
    write_survey(report, options.into);
    return success;
  }
  const Job job = chosen_job(options, families);
  std::vector<Inspected> all;
  for (const auto* target : chosen_targets(options, missing))
    all.push_back(inspect(*target, job, options.kernels));
  if (!options.devices.empty()) {
    const auto runner = runner_of({}, {});
    for (const auto& device : chosen_devices(*runner, options.devices)) {
      const auto ask = [&](const Source& source, const std::vector<std::string>& kernels) {
        return runner->build(device, source, kernels);
      };
      all.push_back(inspect(device, ask, job, options.kernels));
    }
  }
  if (options.text.diff && all.size() != 2)
    throw Error(
        ErrorCode::usage,
        fmt::format("--diff holds two against each other, here are {}: --target gfx90a,gfx1100 --diff",
                    all.size()));
  if (std::ranges::all_of(all, [](const Inspected& one) { return !one.why.empty(); }))
    throw Error(ErrorCode::unsupported, fmt::format("{}: {}", job.at.id(), all.front().why));
  print(inspection_report(job, all, missing, options.text), options.format);
  return std::ranges::any_of(all, &Inspected::failed) ? case_failed : success;
}

}  // namespace

Command inspect(CLI::App& app) {
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("inspect",
                                     "Compile a case offline and show registers, scratch, occupancy, "
                                     "branches, multiply-adds; for devices that "
                                     "need not be here");
  command->add_option(
      "CASE", options->words,
      "A case id; axes that it leaves out have their defaults. FILE.cl: a kernel of your own");
  command
      ->add_option(
          "--target", options->targets,
          fmt::format("Compile for {} [all whose compilers are here]", fmt::join(target_names(), ", ")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,..");
  add_devices(*command, options->devices, "[none: the targets]");
  add_selection(*command, options->selection);
  add_kernels(*command, options->kernels);
  command->add_flag("--every", options->every,
                    "Of every kernel of these families its first case [of smoke], and what is found in them");
  command
      ->add_option("--into", options->into,
                   "With --every: write README.md and kernels.csv into this folder instead")
      ->type_name("DIR")
      ->needs("--every");
  command->add_flag("--diff", options->text.diff, "Of two targets or devices: the figures that differ");
  command->add_flag("--source", options->text.source, "The source as compiled, too");
  command->add_flag("--log", options->text.log, "All that the compilers said, too");
  command->add_flag("--isa", options->text.isa, "The instructions, too: ISA, PTX or SPIR-V");
  add_formats(*command, options->format);
  command->parse_complete_callback([command, options] {
    for (const auto& word : options->words) {
      if (is_own(word)) continue;
      if (!options->id.empty())
        throw Error(ErrorCode::usage,
                    fmt::format("{} and {}: one case at a time; --every takes all", options->id, word));
      options->id = word;
    }
    if (options->every && command->count("--preset") == 0) options->selection.preset = "smoke";
    for (const char* other : {"--family", "--preset", "--set", "--where", "--filter", "--every"}) {
      if (!options->id.empty() && command->count(other) > 0)
        throw Error(ErrorCode::usage, fmt::format("{} is one case: leave {} out", options->id, other));
    }
  });
  return {command, [options](const auto&) { return inspect_case(*options); }};
}

}  // namespace clweave::commands
