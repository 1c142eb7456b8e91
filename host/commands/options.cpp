// SPDX-License-Identifier: Apache-2.0
#include "commands/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/near_word.hpp"
#include "commands/command.hpp"
#include "commands/write_t4.hpp"
#include "suite/former_names.hpp"

namespace clweave::commands {

CLI::Validator within(double least, double most) {
  return CLI::Validator(
      [=](std::string& text) -> std::string {
        double value = 0;
        const bool is_number = CLI::detail::lexical_cast(text, value);
        return is_number && value >= least && value <= most
                   ? ""
                   : fmt::format("{} is not between {} and {}", text, least, most);
      },
      fmt::format("{} to {}", least, most), "within");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](const std::string& text) -> std::string {
        if (std::ranges::find(words, text) != words.end()) return "";
        return fmt::format("there is no {}{}", text, suggestion(text, words));
      },
      fmt::format("{{{}}}", fmt::join(words, ",")), "one_of");
}

namespace {

// Refuses numbers that are too large, for which CLI11 takes the largest one.
CLI::Validator seed_number() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        std::uint64_t value = 0;
        const char* end = text.data() + text.size();
        const auto [at, error] = std::from_chars(text.data(), end, value);
        return error == std::errc{} && at == end ? "" : text + " is no whole number below 2^64";
      },
      "", "seed");
}

// Splits a text into the number that it begins with and the unit behind it.
std::pair<std::optional<double>, std::string> with_unit(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !std::isfinite(number)) return {};
  return {number, std::string(at, end)};
}

// Reads 130s, 5m or 1h; returns nullopt for other texts.
std::optional<double> seconds_of(const std::string& text) {
  static const std::map<std::string, double> units = {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
  const auto [number, word] = with_unit(text);
  const auto unit = units.find(word);
  return number && unit != units.end() ? std::optional(*number * unit->second) : std::nullopt;
}

// Converts times with a unit to seconds, and leaves other words for `within` to refuse.
CLI::Validator in_seconds() {
  return CLI::Validator(
      [](std::string& text) -> std::string {
        if (const auto seconds = seconds_of(text)) text = fmt::format("{}", *seconds);
        return "";
      },
      "", "seconds");
}

// Adds the choice of cases and devices and the sampling, the same for every program that measures.
void add_choice(CLI::App& command, MeasureOptions& out) {
  add_devices(command, out.devices, "[every device]");
  add_selection(command, out.selection);
  command
      .add_option("--csv", out.csv,
                  "File for the rows of all devices; - is stdout [results/<device>/<UTC time>.csv each]")
      ->type_name("FILE");
  command.add_option("--seed", out.selection.seed, "Seed of the random inputs")
      ->type_name("N")
      ->check(seed_number());
  command.add_flag("--overwrite", out.overwrite, "Replace an existing file of --csv");
  command
      .add_option("--precision", out.precision,
                  "Sample until the median's confidence interval is this narrow [0.01]")
      ->type_name("F")
      ->check(within(1e-5, 1.0));
  command
      .add_option("--samples", out.samples,
                  "Take exactly so many samples of each case, however long that takes")
      ->type_name("N")
      ->check(within(1, 1000000))
      ->excludes(command.get_option_no_throw("--precision"));
  command
      .add_option("--max-samples", out.max_samples, "Take at most so many samples of a case [200, smoke 3]")
      ->type_name("N")
      ->check(within(1, 1000000));
  command
      .add_option("--max-seconds", out.max_seconds,
                  "Sample a case for at most so many seconds [2, quick 0.08 but 2 for your own kernels, "
                  "glance and profile 0.15, smoke 0.05]")
      ->type_name("S")
      ->transform(in_seconds())
      ->check(within(1e-3, 1e6));
}

// Adds the source of kernels and the processes that they run in.
void add_processes(CLI::App& command, MeasureOptions& out) {
  add_kernels(command, out.kernels);
  command.add_option("--timeout", out.timeout_s, "Stop a case after so many seconds without progress")
      ->type_name("S")
      ->transform(in_seconds())
      ->check(within(0.1, 1e6));
  command.add_flag("--in-process", out.in_process,
                   "No child processes, for debuggers and profilers: a crash ends the run");
}

// `what` is what a command takes one after the other: family, search.
void add_wait_quiet(CLI::App& command, MeasureOptions& out, const std::string& what) {
  command
      .add_option(
          "--wait-quiet", out.wait_quiet_s,
          fmt::format("Before each {} and before a disturbed case is measured again, wait until other "
                      "processes leave the processors alone and no sensor tells of throttling by heat: "
                      "in all for at most so many seconds, or 5m",
                      what))
      ->type_name("S")
      ->transform(in_seconds())
      ->check(within(1.0, 1e7));
  command
      .add_option(
          "--max-temperature", out.most_celsius,
          "With --wait-quiet: wait, too, until a device whose sensors tell has at most so many degrees "
          "Celsius")
      ->type_name("C")
      ->check(within(1, 150))
      ->needs("--wait-quiet");
}

// Adds repetitions, budget, dry run and label.
void add_course(CLI::App& command, MeasureOptions& out) {
  command.add_flag("--dry-run", out.dry_run,
                   "Print the cases with launch configurations, memory and time estimates; run nothing");
  command.add_option("--runs", out.repeat, "Repetitions [5 for paper and full, else 1]")
      ->type_name("N")
      ->check(within(1, 1000));
  command
      .add_option("--budget", out.budget_s,
                  "Shorten the sampling so that the whole run takes about so many seconds, or 5m; no case "
                  "begins after them")
      ->type_name("S")
      ->transform(in_seconds())
      ->check(within(1.0, 1e7));
  command
      .add_option("--label", out.label,
                  "Name of the device among identical ones of many computers, e.g. $SLURMD_NODENAME; column "
                  "`label`")
      ->type_name("NAME");
}

CLI::Option* add_threads(CLI::App& command, MeasureOptions& out, const std::string& meaning) {
  return command.add_option("--threads", out.threads, meaning)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("N,..")
      ->check(within(1, 4096));
}

// Reads "60s", "5m" or "200cases".
void read_budget(const std::string& text, MeasureOptions& out) {
  const auto [count, word] = with_unit(text);
  if (const auto seconds = seconds_of(text); seconds && *seconds > 0)
    out.budget_s = *seconds;
  else if (count && *count >= 1 && *count < 1e15 && (word == "cases" || word == "case"))
    out.budget_cases = static_cast<std::size_t>(*count);
  else
    throw Error(ErrorCode::usage,
                "--budget " + text + ": write a time such as 60s or a number such as 200cases");
}

// Adds what run and tune share besides the choice of cases.
void add_conditions(CLI::App& command, MeasureOptions& out) {
  command.add_flag_function(
      "--peak,!--no-peak", [&out](std::int64_t given) { out.selection.peaks = out.always_peaks = given > 0; },
      "Measure the device's peaks first, for fraction_of_peak, which --no-peak leaves empty [run: yes; tune: "
      "if they take no longer than the search]");
  command.add_flag_callback(former_option("--no-peak"), [&out] { out.selection.peaks = false; })->group("");
  command
      .add_option("--cache", out.cache,
                  "warm: executions back to back; cold: a large buffer is written before each")
      ->check(one_of({"warm", "cold"}))
      ->type_name("HOW");
  command
      .add_option("--store", out.store,
                  "Your tuned configurations, which take precedence over the shipped ones "
                  "[$XDG_DATA_HOME/clweave/tuned.json]")
      ->type_name("FILE");
}

// Throws `usage` for options that --parallel excludes.
void check_parallel(const CLI::App& run, const MeasureOptions& out) {
  static const std::map<std::string, const char*> against = {
      {"--in-process", "each device works in a process of its own"},
      {"--with-baselines", "other programs do not wait for each other's start"},
      {"--energy", "its loops are longer, and do not begin together"},
      {"--replay", "one case of one device is no load"},
      {"--precision", "all devices sample for the same time, --max-seconds"},
      {"--samples", "all devices sample for the same time, --max-seconds"},
      {"--max-samples", "all devices sample for the same time, --max-seconds"}};
  for (const auto& [name, why] : against) {
    if (run.count(name) > 0)
      throw Error(ErrorCode::usage, fmt::format("--parallel and {}: {}. Leave one of them out", name, why));
  }
  if (out.runs() < 2)
    throw Error(ErrorCode::usage,
                "--parallel holds what changes against what runs differ by anyway: --runs 2 or more, "
                "or none for 3");
}

// Sorts the options of run into the groups of its help, and adds examples.
void group_for_help(CLI::App& run) {
  using Names = std::vector<const char*>;
  static const std::vector<std::pair<const char*, Names>> groups = {
      {"Cases and devices",
       {"--device", "--family", "--preset", "--set", "--where", "--filter", "--claims", "--claim",
        "--claims-file", "--dry-run", "--emit-sources"}},
      {"Results", {"--csv", "--overwrite", "--label", "--report", "--share", "--baseline"}},
      {"Sampling",
       {"--seed", "--precision", "--samples", "--max-samples", "--max-seconds", "--cache", "--runs",
        "--budget", "--wait-quiet", "--max-temperature"}},
      {"Processes", {"--kernels", "--timeout", "--in-process"}},
      {"Measured besides",
       {"--peak", "--tuned", "--store", "--energy", "--with-baselines", "--threads", "--parallel"}},
      {"An earlier run", {"--resume", "--replay", "--case"}},
      {"Kernels of your own",
       {"--kernel", "--global", "--local", "--arg", "--define", "--check", "--within", "--bytes",
        "--operations", "--bound", "--unchecked"}}};
  for (const auto& [group, names] : groups) {
    for (const char* name : names) run.get_option(name)->group(group);
  }
  run.footer(R"(Examples:
  clweave run --preset glance
  clweave run --device gpu --family scan,copy --csv gpu.csv
  clweave run --family matrix_access --set n=1024,8192 --where kernel=grid
  clweave run --resume gpu.csv
  clweave run row_sum.cl --runs 5)");
}

std::vector<const CLI::Option*> given(const CLI::App& command) {
  std::vector<const CLI::Option*> out;
  for (const auto* option : command.get_options()) {
    if (option->count() > 0) out.push_back(option);
  }
  return out;
}

}  // namespace

CLI::App* add_run(CLI::App& app, MeasureOptions& out) {
  auto* run = app.add_subcommand(
      "run", "Verify and measure the cases of a preset on each device; one CSV row per case");
  add_choice(*run, out);
  add_processes(*run, out);
  add_conditions(*run, out);
  add_course(*run, out);
  add_wait_quiet(*run, out, "family");
  const auto says_more = [&](const char* option, const char* more) {
    run->get_option(option)->description(run->get_option(option)->get_description() + more);
  };
  says_more("--runs", "; each in a process of its own [3 --with-baselines and --parallel]");
  says_more("--budget", ", --resume goes on for as long");
  run->add_option(
         "--emit-sources", out.sources,
         "With --dry-run: write every distinct program of the cases into this folder, and index.json")
      ->type_name("DIR")
      ->needs("--dry-run");
  run->add_flag("--energy", out.energy,
                "Also measure the energy of each case, repeated for a second, by the device's power meter, "
                "which is certified first");
  run->add_flag(
      "--with-baselines", out.with_baselines,
      "Also measure the baselines (vendor libraries, other programs): clweave_baseline_* beside this "
      "program, in turns with ours, --runs times");
  add_baseline_values(*run, out.baseline);
  add_threads(*run, out, "Run each case of the CPU baselines on so many threads [all]")
      ->needs("--with-baselines");
  run->add_flag(
      "--parallel", out.parallel,
      "Repeat each repetition on all identical devices at the same time, each case "
      "for --max-seconds, rows into X-at-once.csv; at the end, by how much they slow each other down");
  run->add_flag_function(
      "--tuned,!--no-tuned", [&out](std::int64_t given) { out.tuned = given > 0; },
      "Also measure the tuned configurations: yours, or the shipped ones of this device or the nearest "
      "one [except for smoke, --claims and --replay]");
  run->add_option_function<std::string>(
         "--report", [&out](const std::string& file) { out.report = file; },
         "At the end, an HTML page of all results [beside the first CSV]")
      ->type_name("FILE")
      ->expected(0, 1)
      ->take_last();
  run->add_option_function<std::string>(
         "--share", [&out](const std::string& file) { out.share = file; },
         "At the end, an archive for others: rows, samples, devices, build logs of what failed, no name of "
         "this computer or its user [beside the first CSV]")
      ->type_name("FILE.zip")
      ->expected(0, 1)
      ->take_last();
  run->add_option(
         "--resume", out.resume,
         "Finish this interrupted results file with the options of then; those that name other files or "
         "kernels, and FILE.cl, are never taken from it: give them again")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  run->add_option(
         "--replay", out.replay,
         "Run one row of this results file again, with --case; --kernels and FILE.cl are never taken from it")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  run->add_option("--case", out.replay_case, "The case_id to replay")->type_name("ID");
  run->get_option("--replay")->needs("--case");
  run->get_option("--case")->needs("--replay");
  run->add_flag("--claims", out.run_claims, "The cases that the published claims need, instead of a preset's")
      ->excludes("--preset");
  add_claims(*run, out.claims, out.claims_file);
  add_own(*run, out.own);
  run->add_flag(
      "--unchecked", out.own.unchecked,
      "Measure a kernel of your own even if nothing checks its output: such rows say verified=no, and "
      "neither rank nor are compared");
  group_for_help(*run);
  run->parse_complete_callback([run, &out] {
    for (const auto* option : out.resume.empty() ? std::vector<const CLI::Option*>{} : given(*run)) {
      // What the file may not decide, see recorded.hpp.
      static const std::set<std::string> own = {"--resume",      "--dry-run", "--emit-sources",
                                                "--report",      "--share",   "--kernels",
                                                "--claims-file", "--store",   own_files};
      if (!own.contains(option->get_name()))
        throw Error(ErrorCode::usage,
                    "--resume takes all options from its file: leave " + option->get_name() + " out");
    }
    if (out.parallel) check_parallel(*run, out);
    if (out.energy && out.cache == "cold")
      throw Error(ErrorCode::usage,
                  "--energy of --cache cold would be that of emptying the caches: leave one of them out");
    if (out.claims.empty()) return;
    if (run->count("--preset") > 0)
      throw Error(ErrorCode::usage, "--claim chooses its cases itself: leave --preset out");
    out.run_claims = true;
  });
  return run;
}

CLI::App* add_tune(CLI::App& app, MeasureOptions& out) {
  auto* tune = app.add_subcommand(
      "tune",
      "Search for the fastest launch configuration of every family that preset tune has cases of (clweave "
      "list), or of the cases of another preset: every one verified, the best kept for run");
  add_own(*tune, out.own);
  add_choice(*tune, out);
  add_processes(*tune, out);
  add_conditions(*tune, out);
  add_wait_quiet(*tune, out, "search");
  tune->add_option(
          "--strategy", out.strategy,
          "halving: a sixteenth briefly, downhill from the best, the better ones longer; exhaustive: "
          "every configuration; coarse: every other, then downhill; random: until the budget ends")
      ->type_name("HOW");
  tune->add_option_function<std::string>(
          "--budget", [&out](const std::string& text) { read_budget(text, out); },
          "End the search after so long, peaks aside, or so many measurements: 60s, 200cases [5m of "
          "halving, else none]")
      ->type_name("B");
  add_t4(*tune, out.t4);
  tune->parse_complete_callback([tune, &out] {
    if (tune->count("--preset") == 0) out.selection.preset = "tune";
    if (out.strategy == "halving" && !out.budget_s && !out.budget_cases) out.budget_s = 300;
  });
  return tune;
}

void add_baseline(CLI::App& program, MeasureOptions& out) {
  add_choice(program, out);
  add_course(program, out);
  add_wait_quiet(program, out, "family");
  add_threads(program, out, "Of a program for the processor: each case on so many [all]");
}

std::optional<MeasureOptions> parse_options(const std::vector<std::string>& arguments) {
  MeasureOptions out;
  const auto app = empty_command_line();
  add_run(*app, out);
  add_tune(*app, out);
  if (!parse(*app, arguments)) return {};
  return out;
}

}  // namespace clweave::commands
