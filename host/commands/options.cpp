// SPDX-License-Identifier: Apache-2.0
#include "commands/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "base/version.hpp"

namespace clweave {

namespace {

// Which cases on which devices, and how long each: the same words for every command that measures.
void add_choice(CLI::App& command, Options& out) {
  command
      .add_option("--device", out.devices,
                  "Device: index 0:0, cpu, gpu, accelerator, UUID, or part of a name, vendor or platform; "
                  "may be given again [every device]")
      ->type_name("SEL");
  command.add_option("--family", out.selection.families, "Only these families [all]")
      ->delimiter(',')
      ->type_name("NAME,..");
  command
      .add_option("--preset", out.selection.preset,
                  "smoke: tiny sizes of every variant; quick: minutes; paper: the published sizes and "
                  "sweeps; full [quick]")
      ->type_name("NAME");
  command
      .add_option("--set", out.selection.set, "Replace an axis' values, e.g. n=1024,8192; may be given again")
      ->type_name("AXIS=V,..");
  command
      .add_option("--where", out.selection.where,
                  "Keep the cases with these values, e.g. kernel=grid; may be given again")
      ->type_name("AXIS=V,..");
  command.add_option("--filter", out.selection.filter, "Keep the cases whose id matches")->type_name("REGEX");
  command
      .add_option("--csv", out.csv,
                  "File for the rows of all devices; - is stdout [results/<device>/<UTC time>.csv each]")
      ->type_name("FILE");
  command.add_option("--kernels", out.kernels, "Read the .cl files from here instead of the built-in ones")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  command.add_option("--seed", out.selection.seed, "Seed of the random inputs [1]")->type_name("N");
  command
      .add_option("--precision", out.precision, "Sample until the median is known to this fraction [0.01]")
      ->type_name("F")
      ->check(CLI::Range(1e-5, 1.0));
  command
      .add_option("--samples", out.samples, "Exactly so many samples of each case, however long that takes")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000))
      ->excludes(command.get_option_no_throw("--precision"));
  command.add_option("--max-samples", out.max_samples, "At most so many samples of a case [200]")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  command.add_option("--max-seconds", out.max_seconds, "At most so long sampling a case [2, quick 0.25]")
      ->type_name("S")
      ->check(CLI::Range(1e-3, 1e6));
  command
      .add_option("--timeout", out.timeout_s,
                  "Stop a case that shows no sign of life for so many seconds [30]")
      ->type_name("S")
      ->check(CLI::Range(0.1, 1e6));
  command.add_flag("--in-process", out.in_process,
                   "No child processes, for debuggers and profilers: a crash ends the run");
}

void add_claims(CLI::App& command, Options& out) {
  command.add_option("--claim", out.claims, "Only these claims, e.g. 000-b; may be given again [all]")
      ->delimiter(',')
      ->type_name("ID,..");
  command
      .add_option("--claims-file", out.claims_file, "Read the claims from here instead of the built-in ones")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
}

void add_format(CLI::App& command, const std::string& flag, Format chosen, const std::string& meaning,
                Format& out) {
  command.add_flag_callback(
      flag, [&out, chosen] { out = chosen; }, meaning);
}

// At most one of all.
void add_formats(CLI::App& command, Format& out) {
  auto& formats = *command.add_option_group("formats", "Instead of tables for people:")->require_option(0, 1);
  add_format(formats, "--csv", Format::csv, "CSV, every row", out);
  add_format(formats, "--json", Format::json, "JSON, the same and more", out);
  add_format(formats, "--markdown", Format::markdown, "Markdown, the tables", out);
}

// "60s" or "200cases".
void read_budget(const std::string& text, Options& out) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  const std::string_view word(unit, static_cast<std::size_t>(end - unit));
  if (error == std::errc{} && number > 0 && word == "s")
    out.budget_s = number;
  else if (error == std::errc{} && number >= 1 && (word == "cases" || word == "case"))
    out.budget_cases = static_cast<std::size_t>(number);
  else
    throw Error(Kind::usage, "--budget " + text + ": write a time such as 60s or a number such as 200cases");
}

}  // namespace

std::optional<Options> parse_options(const std::vector<std::string>& arguments) {
  Options out;
  CLI::App app("clweave shows how an OpenCL device really behaves: every output checked, one CSV per device.",
               "clweave");
  app.set_version_flag("--version", std::string(version));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);

  auto* devices =
      app.add_subcommand("devices", "Show every OpenCL device, and which entries are the same hardware");
  add_format(*devices, "--json", Format::json, "Everything known, as JSON", out.format);

  auto* list = app.add_subcommand(
      "list", "Show the families: the question each answers, axes, values, number of cases");
  list->add_option("--family", out.selection.families, "Only these families")
      ->delimiter(',')
      ->type_name("NAME,..");
  add_format(*list, "--json", Format::json, "The same as JSON", out.format);
  list->add_flag("--columns", out.columns, "The columns of a results CSV, as a Markdown table");

  auto* run = app.add_subcommand(
      "run", "Verify and measure the cases of a preset on each device; one CSV row per case");
  auto* tune = app.add_subcommand(
      "tune",
      "Search the launch parameters of cases: every configuration verified, the best kept for run --tuned");
  add_choice(*run, out);
  add_choice(*tune, out);
  bool no_ceiling = false;
  std::string cache = "warm";
  for (auto* command : {run, tune}) {
    command->add_flag("--no-ceiling", no_ceiling,
                      "Do not measure the device's ceilings first; of_ceiling stays empty");
    command
        ->add_option("--cache", cache,
                     "warm: executions back to back; cold: a large buffer is written before each [warm]")
        ->check(CLI::IsMember({"warm", "cold"}))
        ->type_name("HOW");
    command->add_option("--store", out.store, "The tuned configurations [$XDG_DATA_HOME/clweave/tuned.json]")
        ->type_name("FILE");
  }
  run->add_flag("--dry-run", out.dry_run,
                "Print the cases with launch shapes, memory and time estimates; run nothing");
  run->add_option("--runs", out.repeat,
                  "Repetitions, each in a process of its own [1 for smoke and quick, else 5]")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  run->add_option("--budget", out.budget_s,
                  "Shorten the sampling so that the whole run takes about so many seconds")
      ->type_name("S")
      ->check(CLI::Range(1.0, 1e7));
  run->add_flag("--tuned", out.tuned, "Beside each case, the same in the configuration that tune found");
  run->add_option("--resume", out.resume, "Finish this interrupted results file; takes all options from it")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  run->add_option("--replay", out.replay, "Run one row of this results file again, with --case")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  run->add_option("--case", out.replay_case, "The case_id to replay")->type_name("ID");
  run->get_option("--replay")->needs("--case");
  run->get_option("--case")->needs("--replay");
  tune->add_option("--strategy", out.strategy,
                   "exhaustive: every configuration; coarse: every other, then uphill; random: until the "
                   "budget ends; halving: a sixteenth briefly, the better ones longer [exhaustive]")
      ->type_name("HOW");
  std::string budget;
  tune->add_option("--budget", budget, "End the search after so long or so many measurements: 60s, 200cases")
      ->type_name("B");

  run->add_flag("--claims", out.run_claims, "The cases that the published claims need, instead of a preset's")
      ->excludes("--preset");
  add_claims(*run, out);

  auto* roofline = app.add_subcommand(
      "roofline", "Place every kernel of results files under the ceilings measured with it");
  roofline->add_option("FILE", out.files, "CSVs of clweave run")->required()->check(CLI::ExistingFile);
  add_format(*roofline, "--csv", Format::csv, "The same as CSV", out.format);

  auto* compare = app.add_subcommand("compare",
                                     "One device before and after a change: what is faster or slower, and "
                                     "how sure that is; several devices: "
                                     "which variant is best where");
  compare
      ->add_option("FILE", out.compare.files,
                   "CSVs of clweave run, and results/published/figures.csv beside different devices")
      ->required()
      ->check(CLI::ExistingFile);
  compare
      ->add_option("--against", out.compare.against,
                   "The new side, where the files are several sessions of the old one")
      ->type_name("FILE..")
      ->check(CLI::ExistingFile);
  compare
      ->add_option(
          "--noise", out.compare.noise,
          "Sessions of one device with nothing changed between them: what they differ by is no change")
      ->type_name("FILE..")
      ->check(CLI::ExistingFile);
  compare
      ->add_option("--mode", out.compare.mode,
                   "auto: by the devices in two files; regression; architectures [auto]")
      ->type_name("HOW")
      ->check(CLI::IsMember({"auto", "regression", "architectures"}));
  compare->add_option("--margin", out.compare.margin, "A ratio within 1 +- this is no change [0.03]")
      ->type_name("F")
      ->check(CLI::Range(0.0, 10.0));
  compare
      ->add_option(
          "--fail-on", out.compare.fail_on,
          "Exit with 4 on a case that is slower:5% (SLOWER, by more than that), slower, or broken; several "
          "with commas")
      ->type_name("WHAT");
  compare->add_option("--family", out.compare.families, "Only these families, with every variant")
      ->delimiter(',')
      ->type_name("NAME,..");
  compare->add_flag("--all", out.compare.all, "Every case, every table");
  bool cards = false;
  auto* fingerprints =
      compare->add_flag("--fingerprint", cards,
                        "Instead: one card per device, side by side, as clweave fingerprint prints them");
  for (const char* other : {"--against", "--noise", "--mode", "--margin", "--fail-on", "--family", "--all"})
    fingerprints->excludes(compare->get_option(other));
  add_formats(*compare, out.compare.format);

  auto* claims = app.add_subcommand(
      "claims", "Hold the published claims against results files: verdict, number and published number");
  auto* fingerprint = app.add_subcommand(
      "fingerprint", "What results files tell of each device: widths, latencies, rates, what to ask of it");
  for (auto* command : {claims, fingerprint}) {
    command->add_option("FILE", out.files, "CSVs of clweave run")->required()->check(CLI::ExistingFile);
    add_formats(*command, out.format);
    command->add_flag("--rows", out.show_rows, "Show which rows each number comes from");
  }
  add_claims(*claims, out);

  // Not for people: what the supervisor starts.
  auto* worker = app.add_subcommand("worker")->group("");

  try {
    // The library takes them last first.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& success) {
    app.exit(success);
    return {};
  } catch (const CLI::ParseError& error) {
    throw Error(Kind::usage,
                std::string(error.what()) + "\nclweave --help and clweave run --help show what may be typed");
  }
  const std::vector<std::pair<CLI::App*, Command>> commands = {
      {devices, Command::devices},   {list, Command::list},
      {run, Command::run},           {tune, Command::tune},
      {roofline, Command::roofline}, {compare, Command::compare},
      {claims, Command::claims},     {fingerprint, Command::fingerprint},
      {worker, Command::worker}};
  out.command =
      std::ranges::find_if(commands, [](const auto& entry) { return entry.first->parsed(); })->second;
  if (!out.claims.empty() && run->parsed()) {
    if (run->count("--preset") > 0)
      throw Error(Kind::usage, "--claim chooses its cases itself: leave --preset out");
    out.run_claims = true;
  }
  if (!budget.empty()) read_budget(budget, out);
  if (cards) {
    out.command = Command::fingerprint;
    out.files = out.compare.files;
    out.format = out.compare.format;
  }
  out.cold = cache == "cold";
  out.selection.ceilings = !no_ceiling;
  return out;
}

}  // namespace clweave
