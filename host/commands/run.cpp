// SPDX-License-Identifier: Apache-2.0
// run: the cases asked for, each measured on each device.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "analysis/claims/claims.hpp"
#include "analysis/fleet/interference.hpp"
#include "analysis/profile/summary.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/terminal.hpp"
#include "base/zip.hpp"
#include "campaign/campaign.hpp"
#include "commands/baseline_programs.hpp"
#include "commands/case_list.hpp"
#include "commands/command.hpp"
#include "commands/open_devices.hpp"
#include "commands/replay.hpp"
#include "commands/write_page.hpp"
#include "compilers/source_folder.hpp"
#include "results/provenance.hpp"
#include "results/sharing.hpp"
#include "suite/tuned_store.hpp"

namespace clweave::commands {

namespace {

// What becomes of the launches that tune found.
struct TunedSummary {
  std::set<std::string> of;  // devices of which some are measured; "": of this one
  bool with = false;         // whether some are of other work
  // Cases that have none beside them, though smaller ones would: of each family the least.
  struct TooLarge {
    const Family* family;
    NotCarried least;
  };
  std::map<std::string, TooLarge> too_large = {};
};

// Behind each job its work in launches that tune found, those of them that the user would have.
std::vector<Job> with_tuned(std::vector<Job> jobs, const TunedLaunches& tuned, const Selection& selection,
                            TunedSummary& what) {
  std::vector<Job> out;
  std::set<std::string> ids;  // taken
  for (const auto& job : jobs) ids.insert(job.at.id());
  for (auto& job : jobs) {
    std::vector<TunedLaunch> beside;
    std::optional<NotCarried> left_out;
    if (!job.exhibit && !job.is_ceiling) beside = tuned.beside(*job.family, job.at, &left_out);
    if (left_out && allows(selection, *job.family, left_out->at)) {
      const TunedSummary::TooLarge found = {job.family, *left_out};
      NotCarried& least = what.too_large.try_emplace(job.family->name, found).first->second.least;
      if (left_out->at.number(elements_axis) < least.at.number(elements_axis)) least = *std::move(left_out);
    }
    const Job usual = job;
    out.push_back(std::move(job));
    for (const auto& launch : beside) {
      if (!allows(selection, *usual.family, launch.at) || !ids.insert(launch.at.id()).second) continue;
      out.push_back(usual);
      out.back().at = launch.at;
      out.back().tuned = true;
      out.back().tuned_on = launch.of;
      out.back().tuned_with = launch.with;
      what.of.insert(launch.of);
      what.with = what.with || !launch.with.empty();
    }
  }
  return out;
}

std::vector<std::string> lines_of_too_large(const TunedSummary& what) {
  std::vector<std::string> out;
  for (const auto& [name, too_large] : what.too_large) {
    const auto& [family, least] = too_large;
    const auto n = least.at.number(elements_axis);
    out.push_back(
        fmt::format("no tuned launch of {} from n={} on: found at n={}, it is carried to {} times that; "
                    "clweave tune --family {}{} --set n={} finds one",
                    name, n, least.found_at_n, carried_at_most, name,
                    family->presets.tune.empty() ? " --preset quick" : "", n));
  }
  return out;
}

// Tells on which devices the launches were found that are measured beside the default ones.
void tell_tuned(const DeviceInfo& device, const TunedSummary& what) {
  for (const auto& line : lines_of_too_large(what)) log_line("clweave: {}: {}\n", device.name, line);
  for (const auto& other : what.of) {
    if (other.empty())
      log_line("clweave: {}: beside default launches the best that tune found here\n", device.name);
    else
      log_line(
          "clweave: {}: beside default launches the best of the nearest device that was tuned, {}; clweave "
          "tune finds its own\n",
          device.name, other);
  }
  if (what.with)
    log_line(
        "clweave: {}: where a work was not searched, the best launch of one that is alike, which column "
        "reason names\n",
        device.name);
}

std::string device_key_of(const DeviceInfo& device, const std::string& label) {
  Record record;
  record.label = label;
  describe_device(record, device);
  return record.device_key().text();
}

// Where --share puts its archive. `usage` for a name by which no command would know it, and as check_zip.
std::string archive_path(const std::string& asked, const std::string& rows) {
  std::string path = asked.empty() ? std::filesystem::path(rows).replace_extension(".zip").string() : asked;
  if (!path.ends_with(".zip"))
    throw Error(ErrorCode::usage, fmt::format("--share {}: call it {}.zip", path, path));
  check_zip(path);
  return path;
}

// A file goes on with the devices and drivers that it began with, or its rows would be of several without a
// word. A file of one device of several goes on for that device. Throws `no_device` with what is missing.
void keep_devices_of(const Unfinished& left, const MeasureOptions& options, bool one_of_several,
                     std::vector<DeviceInfo>& devices) {
  const std::string& path = options.csv;
  const auto key_of = [&](const DeviceInfo& device) { return device_key_of(device, options.label); };
  std::set<std::string> begun(left.origin.devices.begin(), left.origin.devices.end());
  for (const auto& record : left.records) {
    if (!record.is_baseline()) begun.insert(record.device_key().text());
  }
  std::set<std::string> here;
  for (const auto& device : devices) here.insert(key_of(device));
  const auto refuse = [&](const std::string& key, const char* what) {
    std::string text =
        fmt::format("{} cannot go on: {} {}. Here {}", path, key, what, here.size() == 1 ? "is" : "are");
    for (const auto& other : here) text += "\n  " + other;
    throw Error(ErrorCode::no_device, text + "\nStart again with another --csv");
  };
  for (const auto& key : begun) {
    if (!here.contains(key)) refuse(key, "is not here, with that driver");
  }
  if (one_of_several)
    std::erase_if(devices, [&](const DeviceInfo& device) { return !begun.contains(key_of(device)); });
  else if (!left.origin.devices.empty()) {
    for (const auto& key : here) {
      if (!begun.contains(key)) refuse(key, "was not there when it began");
    }
  }
}

// A file that --resume goes on with.
struct Resumed {
  Unfinished left;
  std::vector<std::string> command;  // that began it
  bool own_file = false;             // of one device of several
};

// Empty where the file is complete. From then on `options` are those of the command that began it, but for
// what becomes of the rows. Throws what is wrong with the file, or its command.
std::optional<Resumed> resumed(MeasureOptions& options, const std::vector<std::string>& axes) {
  Resumed out{ResultsFile::read(options.resume, axes), {}};
  if (out.left.complete) return {};
  const auto words = nlohmann::json::parse(out.left.origin.command, nullptr, false);
  if (!words.is_array() || !std::ranges::all_of(words, [](const auto& word) { return word.is_string(); }))
    throw Error(ErrorCode::io, fmt::format("{}:2: column command: '{}' is no list of words", options.resume,
                                           out.left.origin.command));
  out.command = words.get<std::vector<std::string>>();
  const bool of_baseline = !out.command.empty() && out.command.front().starts_with("clweave_");
  auto again = of_baseline ? std::nullopt : parse_options(out.command);
  if (!again || std::ranges::find(out.command, "tune") != out.command.end())
    throw Error(ErrorCode::usage,
                fmt::format("{} is not of clweave run and cannot go on; start again what made "
                            "it: {}{}",
                            options.resume, of_baseline ? "" : "clweave ", fmt::join(out.command, " ")));
  if (again->parallel)
    throw Error(ErrorCode::usage,
                fmt::format("{} is of run --parallel, of which both sides are measured in turns: "
                            "it cannot go on; start again with --overwrite or another --csv",
                            options.resume));
  out.own_file = again->csv.empty();
  again->csv = options.resume;
  again->dry_run = options.dry_run;
  if (options.report) again->report = options.report;
  if (options.share) again->share = options.share;
  options = *again;
  return out;
}

// What is to be measured: cases, the same for each device or as its claims need them, beside them what tune
// found, and what people would use instead.
class Request {
 public:
  // Where a row is replayed, `options` become those that it was measured with.
  explicit Request(MeasureOptions& options) : options_(&options) {
    const auto& families = all_families();
    const bool replays = !options.replay.empty();
    if (replays) {
      Replay replay = replay_of(options, families);
      jobs_.push_back(std::move(replay.job));
      replay.options.report = options.report;
      replay.options.share = options.share;
      options = std::move(replay.options);
    } else if (options.run_claims) {
      claims_ = chosen_claims(load_claims(options.claims_file), options.claims);
    } else {
      jobs_ = select_jobs(families, options.selection);
    }
    const Selection& chosen = options.selection;
    const bool whole_families = !replays && claims_.empty() && chosen.preset != "smoke";
    refines_ = !options.parallel && whole_families && chosen.set.empty() && chosen.where.empty() &&
               chosen.filter.empty();
    tuned_ = options.tuned.value_or(chosen.preset != "smoke") && !replays && claims_.empty();
    if (tuned_) stores_ = known_stores(options.store);
  }

  bool refines() const { return refines_; }

  // By the device's jobs and rivals, before tuned launches join them.
  std::vector<Job> jobs_of(const DeviceInfo& device) const {
    if (claims_.empty()) return jobs_;
    const double longest_s =
        options_->claims.empty() ? longest_unnamed_s : std::numeric_limits<double>::infinity();
    return claim_jobs(claims_, all_families(), options_->selection, device, longest_s);
  }
  std::vector<BaselineProgram> baselines_of(const DeviceInfo& device, const std::vector<Job>& jobs,
                                            const std::function<void()>& tick) const {
    return options_->with_baselines ? baselines_beside(device, jobs, *options_, tick)
                                    : std::vector<BaselineProgram>{};
  }

  // Adds tuned launches to jobs, those that are found later too.
  void tune(DevicePlan& bench) const {
    if (!tuned_) return;
    const auto launches = std::make_shared<const TunedLaunches>(bench.device, stores_);
    TunedSummary what;
    bench.jobs = with_tuned(std::move(bench.jobs), *launches, options_->selection, what);
    tell_tuned(bench.device, what);
    bench.with_tuned = [launches, chosen = &options_->selection, told = std::set<std::string>()](
                           std::vector<Job> more,
                           const std::function<void(const std::string&)>& note) mutable {
      TunedSummary later;
      auto out = with_tuned(std::move(more), *launches, *chosen, later);
      for (const auto& line : lines_of_too_large(later)) {
        if (told.insert(line).second) note(line);
      }
      return out;
    };
  }

  // What would be run, and on demand its sources.
  void describe(const std::vector<DeviceInfo>& devices, const std::function<void()>& tick) const {
    std::optional<SourcesFolder> sources;
    if (!options_->sources.empty()) sources.emplace(options_->sources);
    for (const auto& device : devices) {
      auto jobs = jobs_of(device);
      if (tuned_) {
        TunedSummary what;
        jobs = with_tuned(std::move(jobs), TunedLaunches(device, stores_), options_->selection, what);
        tell_tuned(device, what);
      }
      for (const auto& rival : baselines_of(device, jobs, tick))
        jobs.insert(jobs.end(), rival.jobs.begin(), rival.jobs.end());
      print(dry_run_report(jobs, device, refines_));
      if (sources) sources->add(jobs, device, options_->kernels);
    }
    if (sources)
      log_line("clweave: {} programs -> {}, with index.json\n", sources->finish(), options_->sources);
  }

 private:
  const MeasureOptions* options_;
  std::vector<Job> jobs_;
  std::vector<Claim> claims_;  // whose cases depend on the device
  bool refines_ = false, tuned_ = false;
  std::vector<nlohmann::json> stores_;
};

// Where everything goes. The rows' own names are asked for now, not after hours; "" is nowhere.
struct Outputs {
  std::vector<std::string> rows;  // a file a device, or one of all; "-" is stdout
  std::string page, archive;

  Outputs(const MeasureOptions& options, const std::vector<DeviceInfo>& devices) {
    rows = options.csv.empty() ? default_paths(devices, "") : std::vector{options.csv};
    if (to_stdout()) return;
    if (options.report) page = page_path(*options.report, rows.front());
    if (options.share) archive = archive_path(*options.share, rows.front());
  }
  bool to_stdout() const { return rows.front() == "-"; }
};

// The places of devices that have an equal here, a group of two or more each; tells of those that have none,
// and of equal ones that are the same hardware. Throws `no_device` where none is equal to another.
std::vector<std::vector<std::size_t>> parallel_groups(const std::vector<DeviceInfo>& devices) {
  auto groups = equal_devices(devices);
  std::string names;
  for (const auto& group : groups) {
    const DeviceInfo& device = devices[group.front()];
    names +=
        fmt::format("\n  {} x {}, {}, driver {}", group.size(), device.name, device.platform, device.driver);
    for (std::size_t d = 1; d < group.size(); ++d) {
      if (devices[group[d]].silicon == device.silicon && !device.silicon.empty())
        log_line("clweave: {} and {} are the same hardware\n", device.index(), devices[group[d]].index());
    }
    if (group.size() == 1) log_line("clweave: {} has no equal here: measured alone\n", device.name);
  }
  std::erase_if(groups, [](const auto& group) { return group.size() < 2; });
  if (groups.empty())
    throw Error(ErrorCode::no_device,
                "--parallel takes two or more equal devices, of one name and driver. Here "
                "are" +
                    names);
  return groups;
}

// What each device measures, and the files that its rows go to, begun or gone on with.
std::vector<DevicePlan> plans_of(const MeasureOptions& options, const Request& request,
                                 const Outputs& outputs, const std::vector<DeviceInfo>& devices,
                                 const Record& common, const std::vector<std::string>& axes,
                                 const Unfinished* left, const std::function<void()>& tick) {
  std::vector<DevicePlan> out;
  std::shared_ptr<ResultsFile> file;
  Origin origin{common.command, common.run_id, common.version, {}};
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceInfo& device = devices[d];
    auto jobs = request.jobs_of(device);
    auto rivals = request.baselines_of(device, jobs, tick);  // before a file is begun
    if (d < outputs.rows.size()) {
      const std::string& path = outputs.rows[d];
      origin.devices.clear();
      for (const auto& other : options.csv.empty() ? std::vector{device} : devices)
        origin.devices.push_back(device_key_of(other, options.label));
      file = left != nullptr ? std::make_shared<ResultsFile>(path, axes, origin, *left)
                             : std::make_shared<ResultsFile>(path, axes, origin, options.overwrite);
      if (path != "-") log_line("clweave: {} -> {}\n", device.name, path);
    }
    out.push_back({device, file, std::move(jobs), request.refines(), std::move(rivals)});
    request.tune(out.back());
  }
  return out;
}

// The same of equal devices at once, in files beside the others'.
std::vector<ParallelPlan> parallel_plans_of(const MeasureOptions& options,
                                            const std::vector<std::vector<std::size_t>>& groups,
                                            const Outputs& outputs, std::vector<DevicePlan>& benches,
                                            const Record& common, const std::vector<std::string>& axes,
                                            const std::function<void()>& tick) {
  std::vector<ParallelPlan> out;
  std::shared_ptr<ResultsFile> file;
  Origin origin{common.command, common.run_id, common.version, {}};
  for (const auto& group : groups) {
    ParallelPlan& cards = out.emplace_back();
    std::vector<DeviceInfo> devices;
    for (const std::size_t d : group) {
      benches[d].jobs = benches[group.front()].jobs;  // what depends on the device's free memory, too
      if (options.csv.empty() || !file) {
        const std::string path = at_once_path(outputs.rows[options.csv.empty() ? d : 0]);
        file = std::make_shared<ResultsFile>(path, axes, origin, options.overwrite);
        log_line("clweave: at once -> {}\n", path);
      }
      devices.push_back(benches[d].device);
      cards.benches.push_back(benches[d]);
      cards.benches.back().file = file;
    }
    cards.crew = std::make_unique<ParallelDevices>(
        devices,
        [&options](std::function<void()> ready) {
          RunnerOptions how = runner_options(options, {});
          how.ready = std::move(ready);
          auto runner = child_runner(std::move(how));
          std::vector<std::string> told;
          runner->devices(told);  // it finds out, too, which drivers are to be left out
          return runner;
        },
        tick);
  }
  return out;
}

// By how much they disturb each other, and what tells it of every case.
void tell_disturbances(const MeasureOptions& options, const Outputs& outputs, const Campaign& campaign,
                       const std::vector<std::vector<std::size_t>>& groups, int code) {
  if (groups.empty() || code == interrupted) return;
  Report report = report_of(interference_of(campaign.records(), campaign.parallel_records(), all_families()));
  report.line("Every case, for programs:");
  std::vector<std::string> files;
  for (const auto& group : groups) {
    for (const std::size_t d : group) files.push_back(outputs.rows[options.csv.empty() ? d : 0]);
  }
  for (std::size_t f = 0; f < (options.csv.empty() ? files.size() : 1); ++f)
    report.command(fmt::format("clweave compare {} {} --jsonl", files[f], at_once_path(files[f])));
  print(report);
}

// The summary, the page and the archive of what was measured.
void conclude(const MeasureOptions& options, const Outputs& outputs, const Campaign& campaign,
              const std::vector<DeviceInfo>& devices, int code) {
  const auto& families = all_families();
  const auto files = outputs.to_stdout() ? std::vector<std::string>{} : outputs.rows;
  try {
    print(summary_of(results_of(campaign.records(), families), families, files), "text",
          outputs.to_stdout() ? STDERR_FILENO : STDOUT_FILENO);
  } catch (const Error& error) {
    // The rows are safe: a reader that has left changes nothing, nor does a stderr that is full.
    if (error.code != ErrorCode::closed && !outputs.to_stdout()) throw;
  }
  if (!outputs.page.empty())
    write_report({.files = files, .against = {}, .out = outputs.page});
  else if (options.report)
    log_line("clweave: no report: the rows went to stdout; clweave report makes one of a file\n");
  if (!outputs.archive.empty() && code != interrupted) {
    share(outputs.archive, files, devices, identity_here());
    log_line("clweave: for others, without a name of this computer or its user: {}\n", outputs.archive);
  } else if (options.share) {
    log_line("clweave: no archive: {}\n",
             outputs.to_stdout() ? "the rows went to stdout" : "--resume and --share make one");
  }
}

int run(MeasureOptions options, const std::vector<std::string>& arguments) {
  catch_interrupts();
  auto axes = axis_names(all_families());
  std::optional<Resumed> again;
  if (!options.resume.empty()) {
    const std::string path = options.resume;
    again = resumed(options, axes);
    if (!again) {
      log_line("clweave: {} is complete: nothing to resume\n", path);
      return success;
    }
  }
  options.csv = rows_path(options.csv);
  std::error_code none;
  if (options.parallel && (options.csv == "-" || (std::filesystem::exists(options.csv, none) &&
                                                  !std::filesystem::is_regular_file(options.csv, none))))
    throw Error(ErrorCode::usage, "--parallel writes FILE.csv and FILE-at-once.csv: --csv " + options.csv +
                                      " has no place for both");
  if (options.with_baselines) axes.emplace_back(threads_axis);
  const Request request(options);
  Campaign* campaign = nullptr;
  const auto tick = [&campaign] {
    if (campaign != nullptr) campaign->tick();
  };
  const auto runner = runner_of(options, tick);
  auto devices = chosen_devices(*runner, options.devices);
  if (interrupts() != 0) return interrupted;
  if (options.dry_run) {
    request.describe(devices, tick);
    return success;
  }
  const Unfinished* const left = again ? &again->left : nullptr;
  if (again) keep_devices_of(*left, options, again->own_file, devices);
  Record common = provenance(again ? again->command : arguments, options.selection.seed, options.label);
  if (again) common.run_id = left->origin.run_id;
  const auto groups = options.parallel ? parallel_groups(devices) : std::vector<std::vector<std::size_t>>{};
  const Outputs outputs(options, devices);
  auto benches = plans_of(options, request, outputs, devices, common, axes, left, tick);
  auto at_once = parallel_plans_of(options, groups, outputs, benches, common, axes, tick);
  if (interrupts() != 0) return interrupted;
  Campaign whole({.sampling = rule_of(options),
                  .seed = options.selection.seed,
                  .runs = options.runs(),
                  .budget_s = options.budget_s,
                  .quiet = outputs.to_stdout() && isatty(STDOUT_FILENO) != 0},
                 *runner, std::move(common), left);
  campaign = &whole;
  const int code = whole.execute(std::move(benches), std::move(at_once));
  if (whole.left_out() > 0)
    log_line("clweave: the budget of {} s ended before {} cases; --family and --where choose fewer\n",
             *options.budget_s, whole.left_out());
  for (const auto& path : whole.unfinished()) {
    if (options.parallel)
      log_line("clweave: {}{} is not whole; what is measured in turns begins anew, with --overwrite\n",
               code == interrupted ? "interrupted; " : "", path);
    else if (path != "-")
      log_line("clweave: {}clweave run --resume {} goes on\n", code == interrupted ? "interrupted; " : "",
               path);
  }
  conclude(options, outputs, whole, devices, code);
  tell_disturbances(options, outputs, whole, groups, code);
  return code;
}

}  // namespace

Command run(CLI::App& app) {
  auto options = std::make_shared<MeasureOptions>();
  return {add_run(app, *options), [options](const auto& arguments) { return run(*options, arguments); }};
}

}  // namespace clweave::commands
