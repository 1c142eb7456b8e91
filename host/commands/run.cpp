// SPDX-License-Identifier: Apache-2.0
// run: plans, prepares, executes and reports the measurement of the cases asked for on each device.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "analysis/claims/jobs.hpp"
#include "analysis/claims/load.hpp"
#include "analysis/fleet/interference.hpp"
#include "analysis/profile/speedups.hpp"
#include "analysis/profile/summary.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "base/shell_word.hpp"
#include "base/terminal.hpp"
#include "base/zip.hpp"
#include "campaign/campaign.hpp"
#include "campaign/wrong_alike.hpp"
#include "commands/baseline_programs.hpp"
#include "commands/case_list.hpp"
#include "commands/command.hpp"
#include "commands/open_devices.hpp"
#include "commands/recorded.hpp"
#include "commands/replay.hpp"
#include "commands/resume.hpp"
#include "commands/tuned_jobs.hpp"
#include "commands/write_page.hpp"
#include "compilers/source_folder.hpp"
#include "device/heat.hpp"
#include "os/interrupt.hpp"
#include "os/processor_use.hpp"
#include "os/terminal.hpp"
#include "results/provenance.hpp"
#include "results/sharing.hpp"
#include "suite/family.hpp"

namespace clweave::commands {

namespace {

// ---- Plan: what is known before a device is opened

struct RunPlan {
  MeasureOptions options;              // of the resumed or replayed run, where there is one
  std::vector<std::string> command;    // value of column `command`
  std::optional<Interrupted> resumed;  // the file of --resume
  std::optional<Record> replayed;      // the row of --replay, if it was made with kernels of a folder
  std::vector<std::string> axes;       // columns of the files
  std::vector<Job> jobs;               // of every device, unless there are claims
  std::vector<Claim> claims;           // with --claims: each device measures the cases that decide these
  bool refines = false;                // whether families may ask for more cases
  std::vector<nlohmann::json> stores;  // tuned configurations; empty: none are measured

  const Unfinished* unfinished() const { return resumed ? &resumed->left : nullptr; }
};

// Says what of the user's store is left out.
std::vector<nlohmann::json> stores_of(const MeasureOptions& options) {
  std::vector<std::string> left_out;
  auto out = known_stores(options.store, left_out);
  constexpr std::size_t most = 5;
  for (std::size_t i = 0; i < left_out.size() && i < most; ++i) log_line("clweave: {}\n", left_out[i]);
  if (left_out.size() > most) log_line("clweave: {} entries more are left out\n", left_out.size() - most);
  if (!options.store.empty() && out.front().at("devices").empty())
    log_line("clweave: {} has no tuned configuration: `clweave tune --store {}` writes what it finds there\n",
             options.store, shell_word(options.store));
  return out;
}

// Empty if the file of --resume is complete.
std::optional<RunPlan> plan_run(MeasureOptions options, const std::vector<std::string>& arguments) {
  const auto& families = all_families();
  RunPlan plan;
  plan.options = std::move(options);
  plan.command = arguments;
  MeasureOptions& chosen = plan.options;
  if (!chosen.resume.empty()) {
    const std::string path = chosen.resume;
    plan.resumed = read_interrupted(chosen);
    if (!plan.resumed) {
      log_line("clweave: {} is complete: nothing to resume\n", path);
      return {};
    }
    plan.command = plan.resumed->command;
  } else if (chosen.replay.empty()) {
    load_own(chosen.own, chosen.selection);
  }
  chosen.csv = rows_path(chosen.csv);
  std::error_code none;
  if (chosen.parallel && (chosen.csv == "-" || (std::filesystem::exists(chosen.csv, none) &&
                                                !std::filesystem::is_regular_file(chosen.csv, none))))
    throw Error(ErrorCode::usage, "--parallel writes FILE.csv and FILE-at-once.csv: --csv " + chosen.csv +
                                      " has no place for both");
  const bool replays = !chosen.replay.empty();
  if (replays) {
    Replay replay = replay_of(chosen, families);
    plan.jobs.push_back(std::move(replay.job));
    plan.replayed = std::move(replay.made_by);
    chosen = std::move(replay.options);
  } else if (chosen.run_claims) {
    plan.claims = chosen_claims(load_claims(chosen.claims_file), chosen.claims);
  } else {
    plan.jobs = select_jobs(families, chosen.selection);
    need_baseline(plan.jobs, chosen.baseline);
  }
  plan.axes = axis_names(families);
  if (chosen.with_baselines) plan.axes.emplace_back(threads_axis);
  if (!chosen.own.unchecked && !chosen.dry_run)
    need_checks(chosen.selection.families,
                ", or add --unchecked: rows then say verified=no, and neither rank nor are compared");
  const Selection& selection = chosen.selection;
  const bool whole_families =
      !replays && plan.claims.empty() && selection.preset != "smoke" && selection.preset != "glance";
  plan.refines = !chosen.parallel && whole_families && selection.set.empty() && selection.where.empty() &&
                 selection.filter.empty();
  if (chosen.tuned.value_or(selection.preset != "smoke") && !replays && plan.claims.empty())
    plan.stores = stores_of(chosen);
  return plan;
}

// Returns the device's jobs, without tuned configurations and baselines.
std::vector<Job> jobs_for(const RunPlan& plan, const DeviceInfo& device) {
  if (plan.claims.empty()) return plan.jobs;
  const double longest_s =
      plan.options.claims.empty() ? longest_case_unless_named_s : std::numeric_limits<double>::infinity();
  return claim_jobs(plan.claims, all_families(), plan.options.selection, device, longest_s);
}

// The rows of baselines that a file is to get, and the device beside which each is measured: beside two
// drivers of one processor a program offers the same rows.
using BaselineRows = std::map<std::string, std::string>;

void keep_own(BaselineRows& rows, const DeviceInfo& beside, const DeviceInfo& device,
              std::vector<Job>& jobs) {
  std::erase_if(jobs, [&](const Job& job) {
    Record row;
    describe_device(row, device);
    row.case_id = job.named().id();
    row.api = job.baseline->api;
    return rows.try_emplace(row_key(row), beside.index()).first->second != beside.index();
  });
}

// Leaves out what is measured beside another device, now and when families ask for more.
std::vector<BaselineProgram> baselines_for(const RunPlan& plan, const DeviceInfo& beside,
                                           const std::vector<Job>& jobs, const RunnerOptions& how,
                                           const std::shared_ptr<BaselineRows>& rows) {
  if (!plan.options.with_baselines) return {};
  auto programs = baselines_beside(beside, jobs, how);
  std::erase_if(programs, [&](BaselineProgram& program) {
    keep_own(*rows, beside, program.device, program.jobs);
    if (program.jobs.empty())
      log_line("clweave: what runs on {} is measured beside another device, not again beside {}\n",
               program.device.name, beside.name);
    return program.jobs.empty();
  });
  for (auto& program : programs) {
    program.more = [rows, beside, device = program.device,
                    more = std::move(program.more)](const std::vector<Job>& ours) {
      auto theirs = more(ours);
      keep_own(*rows, beside, device, theirs);
      return theirs;
    };
  }
  return programs;
}

// Adds tuned configurations to the device's jobs, and to those that families ask for later. `plan` must
// outlive it.
void add_tuned(const RunPlan& plan, DevicePlan& device_plan) {
  if (plan.stores.empty()) return;
  const auto launches = std::make_shared<const TunedLaunches>(device_plan.device, plan.stores);
  TunedSummary summary;
  device_plan.jobs = with_tuned(std::move(device_plan.jobs), *launches, plan.options.selection, summary);
  log_tuned(device_plan.device, summary);
  device_plan.with_tuned = [launches, selection = &plan.options.selection, noted = std::set<std::string>()](
                               std::vector<Job> more,
                               const std::function<void(const std::string&)>& note) mutable {
    TunedSummary later;
    auto out = with_tuned(std::move(more), *launches, *selection, later);
    for (const auto& line : too_large_lines(later)) {
      if (noted.insert(line).second) note(line);
    }
    return out;
  };
}

// Prints what would run, and writes its sources where they are asked for.
void show_dry_run(const RunPlan& plan, const std::vector<DeviceInfo>& devices, const RunnerOptions& how) {
  const MeasureOptions& options = plan.options;
  const auto rows = std::make_shared<BaselineRows>();
  std::optional<SourcesFolder> sources;
  if (!options.sources.empty()) sources.emplace(options.sources);
  for (const auto& device : devices) {
    DevicePlan device_plan{device, nullptr, jobs_for(plan, device)};
    add_tuned(plan, device_plan);
    auto& jobs = device_plan.jobs;
    for (const auto& baseline : baselines_for(plan, device, jobs, how, rows))
      jobs.insert(jobs.end(), baseline.jobs.begin(), baseline.jobs.end());
    print(dry_run_report(jobs, device, plan.refines));
    if (sources) sources->add(jobs, device, options.kernels);
  }
  if (sources) log_line("clweave: {} programs -> {}, with index.json\n", sources->finish(), options.sources);
}

// ---- Prepare: devices with their jobs and files

// The files to write; empty: not written. Chooses and checks their names before anything is measured.
struct Outputs {
  std::vector<std::string> rows;  // a file per device, or one for all; "-" is stdout
  std::string page, archive;

  Outputs(const MeasureOptions& options, const std::vector<DeviceInfo>& devices)
      : rows(options.csv.empty() ? default_paths(devices, "") : std::vector{options.csv}) {
    if (to_stdout()) return;
    if (options.report) page = page_path(*options.report, rows.front());
    if (options.share) archive = archive_path(*options.share, rows.front());
  }
  bool to_stdout() const { return rows.front() == "-"; }
  const std::string& csv_path_for(std::size_t d) const { return rows[rows.size() == 1 ? 0 : d]; }

 private:
  // Throws `usage` for a name without .zip, as no command reads such a file, and what check_zip throws.
  static std::string archive_path(const std::string& asked, const std::string& rows) {
    std::string path = asked.empty() ? std::filesystem::path(rows).replace_extension(".zip").string() : asked;
    if (!path.ends_with(".zip"))
      throw Error(ErrorCode::usage, fmt::format("--share {}: call it {}.zip", path, path));
    if (asked.empty()) refuse_link(path);
    check_zip(path);
    return path;
  }
};

using DeviceGroups = std::vector<std::vector<std::size_t>>;

struct PreparedRun {
  std::vector<DeviceInfo> devices;
  Record common;        // the cells that are the same in every row
  DeviceGroups groups;  // of identical devices, two or more each; empty without --parallel
  Outputs outputs;
  std::vector<DevicePlan> plans;
  std::vector<ParallelPlan> parallel;
};

// Returns the indices of identical devices, group by group; logs which have no equal, and which entries are
// the same hardware. Throws
// `no_device` if no two are identical.
DeviceGroups groups_of_identical_devices(const std::vector<DeviceInfo>& devices) {
  auto groups = equal_devices(devices);
  std::string names;
  for (const auto& group : groups) {
    const DeviceInfo& device = devices[group.front()];
    names +=
        fmt::format("\n  {} x {}, {}, driver {}", group.size(), device.name, device.platform, device.driver);
    for (std::size_t d = 1; d < group.size(); ++d) {
      if (devices[group[d]].hardware == device.hardware && !device.hardware.empty())
        log_line("clweave: {} and {} are the same hardware\n", device.index(), devices[group[d]].index());
    }
    if (group.size() == 1) log_line("clweave: {} has no equal here: measured alone\n", device.name);
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  if (groups.empty())
    throw Error(ErrorCode::no_device,
                "--parallel takes two or more equal devices, of one name and driver. Here are" + names);
  return groups;
}

Origin origin_of(const Record& common) { return {common.command, common.run_id, common.version, {}, {}}; }

// Chooses the jobs of each device and opens its file, new or resumed.
std::vector<DevicePlan> plans_of_devices(const RunPlan& plan, const PreparedRun& run,
                                         const RunnerOptions& how) {
  const MeasureOptions& options = plan.options;
  std::vector<DevicePlan> out;
  std::shared_ptr<ResultsFile> file;
  std::shared_ptr<BaselineRows> rows;
  Origin origin = origin_of(run.common);
  for (std::size_t d = 0; d < run.devices.size(); ++d) {
    const DeviceInfo& device = run.devices[d];
    auto jobs = jobs_for(plan, device);
    if (!rows || options.csv.empty()) rows = std::make_shared<BaselineRows>();  // a file each
    auto baselines = baselines_for(plan, device, jobs, how, rows);              // before it is begun
    if (d < run.outputs.rows.size()) {
      const std::string& path = run.outputs.rows[d];
      origin.devices.clear();
      origin.listings.clear();
      for (const auto& other : options.csv.empty() ? std::vector{device} : run.devices) {
        origin.devices.push_back(device_key_of(other, options.label));
        if (!other.has_address()) origin.listings[origin.devices.back()] = other.listing;
      }
      file = plan.resumed ? std::make_shared<ResultsFile>(path, plan.axes, origin, *plan.unfinished())
                          : std::make_shared<ResultsFile>(path, plan.axes, origin, options.overwrite);
      if (path != "-") log_line("clweave: {} -> {}\n", device.name, path);
    }
    out.push_back({device, file, std::move(jobs), plan.refines, std::move(baselines)});
    add_tuned(plan, out.back());
  }
  return out;
}

// Plans the same jobs once more for each group of identical devices at once, with a file beside each of the
// others.
std::vector<ParallelPlan> plans_of_parallel_devices(const RunPlan& plan, PreparedRun& run,
                                                    const RunnerOptions& how) {
  const MeasureOptions& options = plan.options;
  std::vector<ParallelPlan> out;
  std::shared_ptr<ResultsFile> file;
  for (const auto& group : run.groups) {
    ParallelPlan& parallel = out.emplace_back();
    std::vector<DeviceInfo> devices;
    for (const std::size_t d : group) {
      DevicePlan& alone = run.plans[d];
      alone.jobs = run.plans[group.front()].jobs;  // jobs may depend on a device's free memory
      if (options.csv.empty() || !file) {
        const std::string path = at_once_path(run.outputs.csv_path_for(d));
        refuse_link(path);
        file = std::make_shared<ResultsFile>(path, plan.axes, origin_of(run.common), options.overwrite);
        log_line("clweave: at once -> {}\n", path);
      }
      devices.push_back(alone.device);
      parallel.plans.push_back(alone);
      parallel.plans.back().file = file;
    }
    parallel.devices = std::make_unique<ParallelDevices>(
        devices,
        [&how](std::function<void()> ready) {
          RunnerOptions each = how;
          each.tick = {};  // another thread's
          each.ready = std::move(ready);
          return child_runner(std::move(each));
        },
        how.tick);
  }
  return out;
}

PreparedRun prepare_run(const RunPlan& plan, std::vector<DeviceInfo> devices, const RunnerOptions& how) {
  const MeasureOptions& options = plan.options;
  if (plan.resumed) keep_devices_of(*plan.resumed, options, devices);
  Record common = provenance(plan.command, options.selection.seed, options.label);
  if (plan.resumed) common.run_id = plan.unfinished()->origin.run_id;
  DeviceGroups groups = options.parallel ? groups_of_identical_devices(devices) : DeviceGroups();
  Outputs outputs(options, devices);
  PreparedRun run{std::move(devices), std::move(common), std::move(groups), std::move(outputs), {}, {}};
  run.plans = plans_of_devices(plan, run, how);
  run.parallel = plans_of_parallel_devices(plan, run, how);
  return run;
}

// ---- Report

// Tells before anything is measured that the machine is not quiet.
void log_if_busy(const ProcessorUse& at_start, const MeasureOptions& options) {
  const std::string busy = busy_text(at_start, processor_use());
  if (busy.empty()) return;
  log_line("clweave: this machine is not quiet: {}. Disturbed rows say so in column disturbed{}\n", busy,
           options.wait_quiet_s > 0 ? "" : "; --wait-quiet 5m waits for quiet moments");
}

// Tells it at the end of what was measured.
void log_disturbed(const Campaign& campaign) {
  const auto& records = campaign.records();
  const auto is_disturbed = [](const Record& one) { return !one.disturbed.empty(); };
  const auto disturbed = std::ranges::count_if(records, is_disturbed);
  if (disturbed == 0) return;
  const auto first = std::ranges::find_if(records, is_disturbed);
  log_line(
      "clweave: the machine was not quiet: {} of {} rows were disturbed, the first, {}, as {}. Findings that "
      "follow from them are undecided; --wait-quiet 5m measures in quiet moments\n",
      disturbed, std::ranges::count_if(records, [](const Record& one) { return one.finding.empty(); }),
      first->case_id, first->disturbed);
}

// Tells that what kernels are checked by may be wrong, not they.
void log_wrong_alike(const Campaign& campaign) {
  for (const auto& line : wrong_alike(campaign.wrong_rows(), campaign.records()))
    log_line("clweave: {}\n", line);
}

// Logs which cases the budget left out, and how to complete files that lack some.
void log_unfinished(const RunPlan& plan, const Campaign& campaign, Exit code) {
  if (campaign.skipped() > 0)
    log_line("clweave: the budget of {} s ended before {} cases; --family and --where choose fewer\n",
             *plan.options.budget_s, campaign.skipped());
  const char* const why = code == interrupted ? "interrupted; " : "";
  for (const auto& path : campaign.unfinished()) {
    if (plan.options.parallel)
      log_line("clweave: {}{} lacks cases; measurements in turns start again, with --overwrite\n", why, path);
    else if (path != "-")
      log_line("clweave: {}clweave run --resume {}{} continues it\n", why, shell_word(path),
               files_again(plan.options));
  }
}

void print_summary(const Outputs& outputs, const Campaign& campaign) {
  const auto& families = all_families();
  try {
    print(summary_of(results_of(campaign.records(), families), families,
                     outputs.to_stdout() ? std::vector<std::string>{} : outputs.rows),
          "text", outputs.to_stdout() ? stderr : stdout);
  } catch (const Error& error) {
    // The rows are safe: neither a closed stdout nor a full stderr makes the run fail.
    if (error.code != ErrorCode::closed && !outputs.to_stdout()) throw;
  }
}

// Prints what --baseline asks for, where the rows allow it.
void print_speedups(const RunPlan& plan, const Outputs& outputs, const Campaign& campaign) {
  if (plan.options.baseline.empty()) return;
  const auto& families = all_families();
  try {
    print(speedups(results_of(campaign.records(), families), families, plan.options.selection.families,
                   plan.options.baseline),
          "text", outputs.to_stdout() ? stderr : stdout);
  } catch (const Error& error) {  // as print_summary: the rows are safe
    if (error.code == ErrorCode::usage) log_line("clweave: {}\n", error.what());
    if (error.code != ErrorCode::usage && error.code != ErrorCode::closed && !outputs.to_stdout()) throw;
  }
}

void write_page_and_archive(const RunPlan& plan, const PreparedRun& run, Exit code) {
  const Outputs& outputs = run.outputs;
  if (!outputs.page.empty())
    write_report({.files = outputs.rows, .against = {}, .out = outputs.page});
  else if (plan.options.report)
    log_line("clweave: no report: the rows went to stdout; clweave report makes one of a file\n");
  if (!outputs.archive.empty() && code != interrupted) {
    share(outputs.archive, outputs.rows, run.devices, names_to_redact());
    log_line("clweave: for others, without a name of this computer or its user: {}\n", outputs.archive);
  } else if (plan.options.share) {
    log_line("clweave: no archive: {}\n",
             outputs.to_stdout() ? "the rows went to stdout" : "--resume and --share make one");
  }
}

// Prints how much devices that worked at once slowed each other down, and the command that compares every
// case.
void print_interference(const PreparedRun& run, const Campaign& campaign) {
  Report report = report_of(interference_of(campaign.records(), campaign.parallel_records(), all_families()));
  report.line("Every case, for programs:");
  std::set<std::string> files;
  for (const auto& group : run.groups) {
    for (const std::size_t d : group) {
      const std::string& file = run.outputs.csv_path_for(d);
      if (files.insert(file).second)
        report.command(fmt::format("clweave compare-runs {} {} --jsonl", shell_word(file),
                                   shell_word(at_once_path(file))));
    }
  }
  print(report);
}

void report_run(const RunPlan& plan, const PreparedRun& run, const Campaign& campaign, Exit code) {
  log_unfinished(plan, campaign, code);
  print_summary(run.outputs, campaign);
  print_speedups(plan, run.outputs, campaign);
  write_page_and_archive(plan, run, code);
  if (!run.groups.empty() && code != interrupted) print_interference(run, campaign);
  log_disturbed(campaign);
  log_wrong_alike(campaign);
}

int run(const MeasureOptions& options, const std::vector<std::string>& arguments) {
  catch_interrupts();
  const ProcessorUse at_start = processor_use();
  const auto plan = plan_run(options, arguments);
  if (!plan) return success;

  Campaign* running = nullptr;
  const std::function<void()> tick = [&running] {
    if (running != nullptr) running->tick();
  };
  const auto runner = runner_of(plan->options, tick);
  auto devices = chosen_devices(*runner, plan->options.devices);
  if (interrupts() != 0) return interrupted;
  if (plan->resumed) check_kernels_of(*plan->resumed, plan->options, devices);
  for (const auto& device : devices) {
    if (plan->replayed) check_kernels(*plan->replayed, plan->jobs.front(), device, plan->options.kernels);
  }
  // All processes of the run see the devices that were listed.
  RunnerOptions how = runner_options(plan->options, tick);
  how.environment = runner->environment();
  if (plan->options.dry_run) {
    show_dry_run(*plan, devices, how);
    return success;
  }
  PreparedRun prepared = prepare_run(*plan, std::move(devices), how);
  if (interrupts() != 0) return interrupted;
  log_if_busy(at_start, plan->options);

  Campaign campaign({.sampling = sampling_of(plan->options),
                     .peak_sampling = sampling_of(plan->options, Sampled::peaks),
                     .peaks_once = plan->options.selection.bounding_peaks && !plan->options.parallel,
                     .seed = plan->options.selection.seed,
                     .runs = plan->options.runs(),
                     .budget_s = plan->options.budget_s,
                     .wait_quiet_s = plan->options.wait_quiet_s,
                     .heat = [heat = std::make_shared<Heat>(plan->options.most_celsius)](
                                 const DeviceInfo& device) { return heat->of(device); },
                     .quiet = prepared.outputs.to_stdout() && os::is_terminal(stdout)},
                    *runner, prepared.common, plan->unfinished());
  running = &campaign;
  const Exit code = campaign.execute(std::move(prepared.plans), std::move(prepared.parallel));
  report_run(*plan, prepared, campaign, code);
  return code;
}

}  // namespace

Command run(CLI::App& app) {
  auto options = std::make_shared<MeasureOptions>();
  return {add_run(app, *options), [options](const auto& arguments) { return run(*options, arguments); }};
}

}  // namespace clweave::commands
