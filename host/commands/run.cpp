// SPDX-License-Identifier: Apache-2.0
// run: the cases asked for, each measured on each device.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "answers/claims.hpp"
#include "answers/summary.hpp"
#include "base/csv.hpp"
#include "base/interrupt.hpp"
#include "base/terminal.hpp"
#include "base/version.hpp"
#include "campaign/campaign.hpp"
#include "commands/command.hpp"
#include "commands/listing.hpp"
#include "commands/measuring.hpp"
#include "results/provenance.hpp"
#include "suite/tuned_store.hpp"

namespace clweave::commands {

namespace {

// Behind each job the same work in the configuration that tune found for this device.
std::vector<Job> with_tuned(const std::vector<Job>& jobs, const TunedStore& store, const DeviceInfo& device) {
  std::vector<Job> out;
  std::set<std::string> ids;  // taken
  for (const auto& job : jobs) ids.insert(job.at.id());
  std::size_t found = 0;
  for (const auto& job : jobs) {
    out.push_back(job);
    if (job.exhibit || job.is_ceiling) continue;
    const auto at = tuned_case(store, device, *job.family, job.at);
    if (!at || !ids.insert(at->id()).second) continue;
    out.push_back(job);
    out.back().at = *at;
    out.back().tuned = true;
    ++found;
  }
  fmt::print(stderr, "clweave: {} tuned configurations for {} in {}\n", found, device.name, store.path());
  return out;
}

// The one job of a row in a results file; `options` become those that the row was made with. Says on stderr
// what is different now.
Job replayed_job(Options& options, const std::vector<Family>& families) {
  const auto records = records_of(read_csv(options.replay), options.replay);
  const auto row = std::ranges::find(records, options.replay_case, &Record::case_id);
  if (row == records.end() || !row->finding.empty())
    throw Error(Kind::usage,
                options.replay + " has no case " + options.replay_case + "; its column case_id lists them");
  const auto family = std::ranges::find(families, row->family, &Family::name);
  if (family == families.end()) throw Error(Kind::usage, "there is no family " + row->family + " any more");
  const std::string csv = options.csv;
  if (const auto then = parse_options(nlohmann::json::parse(row->command).get<std::vector<std::string>>()))
    options = *then;
  options.csv = csv.empty() ? "-" : csv;
  options.resume.clear();
  options.repeat = 1;
  options.selection.seed = static_cast<std::uint64_t>(row->seed.value_or(1));
  options.devices = {row->device};
  Case at{family->name, {}, options.selection.seed};
  for (const auto& axis : family->axes) {
    const std::string cell = row->axis(axis.name);
    if (cell.empty()) throw Error(Kind::usage, row->case_id + " has no value for axis " + axis.name);
    at.axes.emplace_back(axis.name, value_of(cell));
  }
  if (row->version != version)
    fmt::print(stderr, "clweave: the row was made by {}, this is {}\n", row->version, version);
  return {&*family, std::move(at)};
}

int run(Options options, const std::vector<std::string>& arguments) {
  catch_interrupts();
  const auto families = all_families();
  const auto axes = axis_names(families);
  std::optional<Unfinished> left;
  bool own_file = false;  // of one device of several
  std::vector<std::string> command = arguments;
  if (!options.resume.empty()) {
    left = ResultsFile::read(options.resume);
    if (left->complete) {
      fmt::print(stderr, "clweave: {} is complete: nothing to resume\n", options.resume);
      return fine;
    }
    command = nlohmann::json::parse(left->command).get<std::vector<std::string>>();
    auto again = parse_options(command);
    if (!again) throw Error(Kind::io, options.resume + ": its command column names no run");
    own_file = again->csv.empty();
    again->csv = options.resume;
    options = *again;
  }
  std::vector<Job> common_jobs;
  std::vector<Claim> claims;  // whose cases depend on the device
  if (!options.replay.empty()) {
    common_jobs.push_back(replayed_job(options, families));
  } else if (options.run_claims) {
    claims = chosen_claims(load_claims(options.claims_file), options.claims);
  } else {
    common_jobs = select_jobs(families, options.selection);
  }
  const auto jobs_of = [&](const DeviceInfo& device) {
    return claims.empty() ? common_jobs : claim_jobs(claims, families, options.selection, device);
  };
  Campaign* campaign = nullptr;
  const auto runner = runner_of(options, [&campaign] {
    if (campaign != nullptr) campaign->tick();
  });
  auto devices = chosen_devices(*runner, options.devices);
  if (interrupts() != 0) return interrupted;
  if (options.dry_run) {
    for (const auto& device : devices) print(dry_run_report(jobs_of(device), device));
    return fine;
  }
  if (left) {
    // A file of one device of several goes on for that device.
    std::set<std::string> names;
    const auto name_of = [](const Record& record) {
      return record.platform + "\n" + record.device + "\n" + record.device_id;
    };
    for (const auto& record : left->records) names.insert(name_of(record));
    if (own_file) {
      std::erase_if(devices, [&](const DeviceInfo& device) {
        Record record;
        describe_device(record, device);
        return !names.contains(name_of(record));
      });
    }
    if (devices.empty()) throw Error(Kind::no_device, "the device of " + options.csv + " is not here");
  }

  std::vector<Bench> benches;
  std::shared_ptr<ResultsFile> common_file;
  std::vector<std::string> files;
  const auto paths = default_paths(devices, "");
  std::optional<TunedStore> store;
  if (options.tuned) store.emplace(options.store.empty() ? default_store_path() : options.store);
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const DeviceInfo& device = devices[d];
    auto file = common_file;
    if (!file) {
      const std::string path = !options.csv.empty() ? options.csv : paths[d];
      file =
          left ? std::make_shared<ResultsFile>(path, axes, *left) : std::make_shared<ResultsFile>(path, axes);
      files.push_back(path);
      if (path != "-") fmt::print(stderr, "clweave: {} -> {}\n", device.name, path);
    }
    if (!options.csv.empty()) common_file = file;
    auto jobs = jobs_of(device);
    benches.push_back({device, file, store ? with_tuned(jobs, *store, device) : std::move(jobs)});
  }
  const bool stdout_is_csv = options.csv == "-";
  Campaign whole({.measuring = rule_of(options),
                  .seed = options.selection.seed,
                  .runs = options.runs(),
                  .budget_s = options.budget_s,
                  .quiet = stdout_is_csv && isatty(STDOUT_FILENO) != 0},
                 *runner, provenance(command, options.selection.seed), left ? &*left : nullptr);
  campaign = &whole;
  const int code = whole.execute(std::move(benches));
  print(summary_of(whole.records(), families, stdout_is_csv ? std::vector<std::string>{} : files), "text",
        stdout_is_csv ? STDERR_FILENO : STDOUT_FILENO);
  if (code == interrupted && !options.csv.empty() && options.csv != "-")
    fmt::print(stderr, "clweave: interrupted; clweave run --resume {} goes on\n", options.csv);
  return code;
}

}  // namespace

Command run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  return {add_run(app, *options), [options](const auto& arguments) { return run(*options, arguments); }};
}

}  // namespace clweave::commands
