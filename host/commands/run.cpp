// SPDX-License-Identifier: Apache-2.0
// run: the cases asked for, each measured on each device.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "answers/claims.hpp"
#include "answers/summary.hpp"
#include "base/interrupt.hpp"
#include "base/tell.hpp"
#include "base/terminal.hpp"
#include "base/zip.hpp"
#include "campaign/campaign.hpp"
#include "commands/beside.hpp"
#include "commands/command.hpp"
#include "commands/listing.hpp"
#include "commands/measuring.hpp"
#include "commands/replay.hpp"
#include "commands/reporting.hpp"
#include "commands/sources.hpp"
#include "results/provenance.hpp"
#include "results/sharing.hpp"
#include "suite/tuned_store.hpp"

namespace clweave::commands {

namespace {

// Behind each job its work in launches that tune found, those of them that the user would have.
std::vector<Job> with_tuned(std::vector<Job> jobs, const TunedLaunches& tuned, const Selection& selection,
                            std::set<std::string>* of) {
  std::vector<Job> out;
  std::set<std::string> ids;  // taken
  for (const auto& job : jobs) ids.insert(job.at.id());
  for (auto& job : jobs) {
    std::vector<TunedLaunch> beside;
    if (!job.exhibit && !job.is_ceiling) beside = tuned.beside(*job.family, job.at);
    const Job usual = job;
    out.push_back(std::move(job));
    for (const auto& launch : beside) {
      if (!allows(selection, *usual.family, launch.at) || !ids.insert(launch.at.id()).second) continue;
      out.push_back(usual);
      out.back().at = launch.at;
      out.back().tuned = true;
      out.back().tuned_on = launch.of;
      if (of != nullptr) of->insert(launch.of);
    }
  }
  return out;
}

// Tells on which devices the launches were found that are measured beside the default ones.
void tell_tuned(const DeviceInfo& device, const std::set<std::string>& of) {
  for (const auto& other : of) {
    if (other.empty())
      tell("clweave: {}: beside default launches the best that tune found here\n", device.name);
    else
      tell(
          "clweave: {}: beside default launches the best of the nearest device that was tuned, {}; clweave "
          "tune finds its own\n",
          device.name, other);
  }
}

std::string device_key_of(const DeviceInfo& device, const std::string& label) {
  Record record;
  record.label = label;
  describe_device(record, device);
  return record.device_key().text();
}

// Where --share puts its archive. `usage` for a name by which no command would know it, and as check_zip.
std::string archive_path(const std::string& asked, const std::string& rows) {
  const std::string path =
      asked.empty() ? std::filesystem::path(rows).replace_extension(".zip").string() : asked;
  if (!path.ends_with(".zip"))
    throw Error(Kind::usage, fmt::format("--share {}: call it {}.zip", path, path));
  check_zip(path);
  return path;
}

// A file goes on with the devices and drivers that it began with, or its rows would be of several without a
// word. A file of one device of several goes on for that device. Throws `no_device` with what is missing.
void keep_devices_of(const Unfinished& left, const Options& options, bool one_of_several,
                     std::vector<DeviceInfo>& devices) {
  const std::string& path = options.csv;
  const auto key_of = [&](const DeviceInfo& device) { return device_key_of(device, options.label); };
  std::set<std::string> begun(left.origin.devices.begin(), left.origin.devices.end());
  for (const auto& record : left.records) {
    if (!record.is_native()) begun.insert(record.device_key().text());
  }
  std::set<std::string> here;
  for (const auto& device : devices) here.insert(key_of(device));
  const auto refuse = [&](const std::string& key, const char* what) {
    std::string text =
        fmt::format("{} cannot go on: {} {}. Here {}", path, key, what, here.size() == 1 ? "is" : "are");
    for (const auto& other : here) text += "\n  " + other;
    throw Error(Kind::no_device, text + "\nStart again with another --csv");
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

int run(Options options, const std::vector<std::string>& arguments) {
  catch_interrupts();
  const auto& families = all_families();
  auto axes = axis_names(families);
  std::optional<Unfinished> left;
  bool own_file = false;  // of one device of several
  std::vector<std::string> command = arguments;
  if (!options.resume.empty()) {
    left = ResultsFile::read(options.resume, axes);
    if (left->complete) {
      tell("clweave: {} is complete: nothing to resume\n", options.resume);
      return fine;
    }
    const auto words = nlohmann::json::parse(left->origin.command, nullptr, false);
    if (!words.is_array() || !std::ranges::all_of(words, [](const auto& word) { return word.is_string(); }))
      throw Error(Kind::io, fmt::format("{}:2: column command: '{}' is no list of words", options.resume,
                                        left->origin.command));
    command = words.get<std::vector<std::string>>();
    auto again = parse_options(command);
    if (!again || std::ranges::find(command, "tune") != command.end())
      throw Error(Kind::usage, fmt::format("{} is not of clweave run and cannot go on; start again what made "
                                           "it: clweave {}",
                                           options.resume, fmt::join(command, " ")));
    own_file = again->csv.empty();
    again->csv = options.resume;
    again->dry_run = options.dry_run;
    if (options.report) again->report = options.report;
    if (options.share) again->share = options.share;
    options = *again;
  }
  options.csv = rows_path(options.csv);
  if (options.with_baselines) axes.emplace_back(threads_axis);
  const bool replays = !options.replay.empty();
  std::vector<Job> common_jobs;
  std::vector<Claim> claims;  // whose cases depend on the device
  if (replays) {
    Replay replay = replay_of(options, families);
    common_jobs.push_back(std::move(replay.job));
    replay.options.report = options.report;
    replay.options.share = options.share;
    options = std::move(replay.options);
  } else if (options.run_claims) {
    claims = chosen_claims(load_claims(options.claims_file), options.claims);
  } else {
    common_jobs = select_jobs(families, options.selection);
  }
  const auto jobs_of = [&](const DeviceInfo& device) {
    return claims.empty() ? common_jobs : claim_jobs(claims, families, options.selection, device);
  };
  Campaign* campaign = nullptr;
  const auto tick = [&campaign] {
    if (campaign != nullptr) campaign->tick();
  };
  const auto runner = runner_of(options, tick);
  auto devices = chosen_devices(*runner, options.devices);
  if (interrupts() != 0) return interrupted;
  const Selection& chosen = options.selection;
  const bool refines = !replays && claims.empty() && chosen.preset != "smoke" && chosen.set.empty() &&
                       chosen.where.empty() && chosen.filter.empty();
  const auto rivals_of = [&](const DeviceInfo& device, const std::vector<Job>& jobs) {
    return options.with_baselines ? rivals_beside(device, jobs, options, tick) : std::vector<Rival>{};
  };
  const bool tuned = options.tuned.value_or(chosen.preset != "smoke") && !replays && claims.empty();
  const auto stores = tuned ? known_stores(options.store) : std::vector<nlohmann::json>();
  if (options.dry_run) {
    std::optional<SourcesFolder> sources;
    if (!options.sources.empty()) sources.emplace(options.sources);
    for (const auto& device : devices) {
      auto jobs = jobs_of(device);
      if (tuned) jobs = with_tuned(std::move(jobs), TunedLaunches(device, stores), chosen, nullptr);
      for (const auto& rival : rivals_of(device, jobs))
        jobs.insert(jobs.end(), rival.jobs.begin(), rival.jobs.end());
      print(dry_run_report(jobs, device, refines));
      if (sources) sources->add(jobs, device, options.kernels);
    }
    if (sources) tell("clweave: {} programs -> {}, with index.json\n", sources->finish(), options.sources);
    return fine;
  }
  if (left) keep_devices_of(*left, options, own_file, devices);
  Record common = provenance(command, options.selection.seed, options.label);
  if (left) common.run_id = left->origin.run_id;
  Origin origin{common.command, common.run_id, common.version, {}};

  std::vector<Bench> benches;
  std::shared_ptr<ResultsFile> common_file;
  std::vector<std::string> files;
  const auto paths = default_paths(devices, "");
  const std::string page = options.report && options.csv != "-"
                               ? page_path(*options.report, options.csv.empty() ? paths.front() : options.csv)
                               : "";  // asked for now, not after hours
  const std::string archive =
      options.share && options.csv != "-"
          ? archive_path(*options.share, options.csv.empty() ? paths.front() : options.csv)
          : "";
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceInfo& device = devices[d];
    auto jobs = jobs_of(device);
    auto rivals = rivals_of(device, jobs);  // before a file is begun
    auto file = common_file;
    if (!file) {
      const std::string path = !options.csv.empty() ? options.csv : paths[d];
      origin.devices.clear();
      for (const auto& other : options.csv.empty() ? std::vector{device} : devices)
        origin.devices.push_back(device_key_of(other, options.label));
      file = left ? std::make_shared<ResultsFile>(path, axes, origin, *left)
                  : std::make_shared<ResultsFile>(path, axes, origin, options.overwrite);
      files.push_back(path);
      if (path != "-") tell("clweave: {} -> {}\n", device.name, path);
    }
    if (!options.csv.empty()) common_file = file;
    Bench bench{device, file, std::move(jobs), refines, std::move(rivals)};
    if (tuned) {
      const auto launches = std::make_shared<const TunedLaunches>(device, stores);
      std::set<std::string> of;
      bench.jobs = with_tuned(std::move(bench.jobs), *launches, chosen, &of);
      tell_tuned(device, of);
      bench.with_tuned = [launches, &chosen](std::vector<Job> more) {
        return with_tuned(std::move(more), *launches, chosen, nullptr);
      };
    }
    benches.push_back(std::move(bench));
  }
  if (interrupts() != 0) return interrupted;
  const bool stdout_is_csv = options.csv == "-";
  Campaign whole({.measuring = rule_of(options),
                  .seed = options.selection.seed,
                  .runs = options.runs(),
                  .budget_s = options.budget_s,
                  .quiet = stdout_is_csv && isatty(STDOUT_FILENO) != 0},
                 *runner, std::move(common), left ? &*left : nullptr);
  campaign = &whole;
  const int code = whole.execute(std::move(benches));
  if (whole.left_out() > 0)
    tell("clweave: the budget of {} s ended before {} cases; --family and --where choose fewer\n",
         *options.budget_s, whole.left_out());
  for (const auto& path : whole.unfinished()) {
    if (path != "-")
      tell("clweave: {}clweave run --resume {} goes on\n", code == interrupted ? "interrupted; " : "", path);
  }
  try {
    print(summary_of(results_of(whole.records(), families), families,
                     stdout_is_csv ? std::vector<std::string>{} : files),
          "text", stdout_is_csv ? STDERR_FILENO : STDOUT_FILENO);
  } catch (const Error& error) {
    // The rows are safe: a reader that has left changes nothing, nor does a stderr that is full.
    if (error.kind != Kind::closed && !stdout_is_csv) throw;
  }
  if (!page.empty())
    write_report({.files = files, .against = {}, .out = page});
  else if (options.report)
    tell("clweave: no report: the rows went to stdout; clweave report makes one of a file\n");
  if (!archive.empty() && code != interrupted) {
    share(archive, files, devices, identity_here());
    tell("clweave: for others, without a name of this computer or its user: {}\n", archive);
  } else if (options.share) {
    tell("clweave: no archive: {}\n",
         archive.empty() ? "the rows went to stdout" : "--resume and --share make one");
  }
  return code;
}

}  // namespace

Command run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  return {add_run(app, *options), [options](const auto& arguments) { return run(*options, arguments); }};
}

}  // namespace clweave::commands
