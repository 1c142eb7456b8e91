// SPDX-License-Identifier: Apache-2.0
#include "supervisor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "claims.hpp"
#include "judge.hpp"
#include "listing.hpp"
#include "provenance.hpp"
#include "results_file.hpp"
#include "summary.hpp"
#include "terminal.hpp"
#include "timer.hpp"
#include "tuned_store.hpp"
#include "version.hpp"
#include "workbench.hpp"

namespace clweave {

namespace {

// Shuffled, so that what drifts (heat, neighbours) does not line up with an axis. The order is the same for
// the same seed everywhere: std::shuffle's is not.
void shuffle(std::vector<Job>& jobs, std::uint64_t seed) {
  const Random<std::uint64_t> draw(seed, 0xC0FFEE);
  for (std::size_t i = jobs.size(); i > 1; --i) std::swap(jobs[i - 1], jobs[draw(i) % i]);
}

// One process each: ceilings first of all, then a group per family, exhibits last.
std::vector<std::vector<Job>> groups_of(const std::vector<Job>& jobs, std::uint64_t seed) {
  std::vector<std::vector<Job>> groups;
  std::string last;
  for (const auto& job : jobs) {
    const std::string key = job.family->name + (job.exhibit ? " exhibits" : "");
    if (groups.empty() || key != last) groups.emplace_back();
    groups.back().push_back(job);
    last = key;
  }
  for (auto& group : groups) shuffle(group, seed);
  return groups;
}

// One device's part of the run.
struct Bench {
  DeviceInfo device;
  std::shared_ptr<ResultsFile> file;
  std::vector<Job> jobs;
  Judge judge = {};  // of the current run
};

class Campaign {
 public:
  Campaign(const Options& options, Runner& runner, Record common, const Unfinished* left)
      : options_(options), runner_(runner), common_(std::move(common)), left_(left) {
    if (left_ == nullptr) return;
    common_.run_id = left_->run_id;
    for (const auto& record : left_->records) done_.emplace(row_key(record), &record);
  }

  int execute(std::vector<Bench> benches, int runs) {
    std::vector<double> predicted;
    for (int run = 1; run <= runs; ++run) {
      for (const auto& bench : benches) {
        for (const auto& group : groups_of(bench.jobs, seed_of(run))) {
          for (const auto& job : group) predicted.push_back(predicted_seconds(job, bench.device));
        }
      }
    }
    for (const double seconds : predicted) left_s_ += seconds;
    predicted_ = predicted;
    // Rows and the line would write over each other.
    Screen screen = screen_of(STDERR_FILENO);
    if (options_.csv == "-" && isatty(STDOUT_FILENO) != 0) screen.live = false;
    Progress progress(stderr, std::move(predicted), screen, host_now);
    progress_ = &progress;
    began_s_ = host_now();
    for (int run = 1; run <= runs && interrupts() == 0; ++run) {
      for (auto& bench : benches) {
        if (interrupts() == 0) run_device(bench, run);
      }
    }
    progress.finish();
    progress_ = nullptr;
    if (interrupts() != 0) return interrupted;
    std::set<ResultsFile*> files;
    for (const auto& bench : benches) {
      if (files.insert(bench.file.get()).second) bench.file->finish();
    }
    return std::ranges::any_of(records_, &Record::failed) ? case_failed : fine;
  }

  void tick() {
    if (progress_ != nullptr) progress_->tick();
  }
  const std::vector<Record>& records() const { return records_; }

 private:
  std::uint64_t seed_of(int run) const {
    return options_.selection.seed + 1000003ULL * static_cast<std::uint64_t>(run);
  }

  void run_device(Bench& bench, int run) {
    bench.judge = Judge();
    std::int64_t order = 0;
    for (const auto& group : groups_of(bench.jobs, seed_of(run))) {
      bool begun = false;
      for (const auto& job : group) {
        const std::size_t step = step_++;
        const double predicted_s = predicted_[step];
        ++order;
        left_s_ -= predicted_s;
        Record key;
        describe_device(key, bench.device);
        key.run = run;
        key.case_id = job.at.id();
        const std::string row = row_key(key);
        if (const auto it = done_.find(row); it != done_.end()) {
          remember(bench, job, *it->second);
          continue;
        }
        if (interrupts() != 0) return;
        if (!begun) runner_.begin(bench.device);
        begun = true;
        progress_->start(step, job.at.id());
        run_job(bench, job, row, run, order, predicted_s);
      }
    }
    if (interrupts() != 0) return;
    for (auto& record : bench.judge.findings(bench.device)) {
      record.run = run;
      if (done_.contains(row_key(record))) continue;
      stamp(record, common_, run);
      bench.file->write(record, {});
      records_.push_back(record);
    }
  }

  // A row of the interrupted run counts as if it had been measured now.
  void remember(Bench& bench, const Job& job, const Record& record) {
    Row row{record, {}, 0};
    const std::string implausible = record.status == "implausible" ? record.reason : "";
    bench.judge.complete(row, job, implausible);
    records_.push_back(record);
  }

  void run_job(Bench& bench, const Job& job, const std::string& key, int run, std::int64_t order,
               double predicted_s) {
    const int attempt = left_ != nullptr && left_->running_key == key ? left_->running_attempts + 1 : 1;
    Row row;
    if (attempt > 2) {
      row = {failed_record(bench.device, *job.family, job.at, Kind::crashed,
                           "the run ended twice while this case was running"),
             {},
             0};
    } else {
      bench.file->running(key, attempt);
      auto got = measured(bench, job, predicted_s);
      if (!got) return;
      row = std::move(*got);
    }
    Record& record = row.record;
    record.order = order;
    if (job.tuned) record.tuned = "yes";
    stamp(record, common_, run);
    bench.file->write(record, row.samples);
    if (record.failed())
      progress_->note(fmt::format("{}  {}  {}", record.status, record.case_id, record.reason));
    records_.push_back(record);
  }

  // Runs the job; a row that seems impossible gets a second chance, and so do the ceilings it broke.
  std::optional<Row> measured(Bench& bench, const Job& job, double predicted_s) {
    Measuring rule = rule_of(options_);
    if (options_.budget_s) {
      // What is left of the budget, shared by what is predicted for the rest; half of a case is not sampling.
      const double left_s = *options_.budget_s - (host_now() - began_s_);
      const double share_s = left_s * predicted_s / std::max(predicted_s + left_s_, 1e-9) / 2;
      rule.stop.max_seconds = std::clamp(share_s, 1e-3, rule.stop.max_seconds);
    }
    auto row = runner_.run(job, rule);
    if (!row) return {};
    std::string doubt = bench.judge.doubt(*row, job);
    for (int again = 0; !doubt.empty() && again < 2 && interrupts() == 0; ++again) {
      for (const auto& other : bench.jobs) {
        if (!other.is_ceiling || retried_ceilings_ > 2 * static_cast<int>(bench.jobs.size())) continue;
        if (again == 0 && is_ceiling_of(other, row->record.ceiling)) {
          ++retried_ceilings_;
          if (const auto ceiling = runner_.run(other, rule)) bench.judge.learn(*ceiling, other);
        }
      }
      if (bench.judge.doubt(*row, job).empty()) {
        doubt.clear();
        break;
      }
      if (auto second = runner_.run(job, rule)) row = std::move(second);
      doubt = bench.judge.doubt(*row, job);
    }
    bench.judge.complete(*row, job, doubt);
    return row;
  }

  static bool is_ceiling_of(const Job& job, const std::string& ceiling) {
    const std::string& kernel = job.at.text("kernel");
    if (ceiling.starts_with("arithmetic"))
      return kernel.starts_with("arithmetic") && ceiling.ends_with("_" + job.at.text("type"));
    return kernel == "buffer" || kernel.starts_with("copy") || kernel == "read" || kernel == "read_run";
  }

  const Options& options_;
  Runner& runner_;
  Record common_;
  const Unfinished* left_;
  std::map<std::string, const Record*> done_;
  std::vector<Record> records_;
  std::vector<double> predicted_;
  Progress* progress_ = nullptr;
  std::size_t step_ = 0;
  double left_s_ = 0;  // predicted for the jobs to come
  double began_s_ = 0;
  int retried_ceilings_ = 0;
};

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

}  // namespace

int supervise(Options options, const std::vector<std::string>& arguments) {
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
    for (const auto& device : devices)
      fmt::print("{}", dry_run_table(jobs_of(device), device, wants_colour(STDOUT_FILENO)));
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
      if (path != "-") fmt::print(stderr, "clweave: {} -> {}\n", device.name, path);
    }
    if (!options.csv.empty()) common_file = file;
    auto jobs = jobs_of(device);
    benches.push_back({device, file, store ? with_tuned(jobs, *store, device) : std::move(jobs)});
  }
  Campaign whole(options, *runner, provenance(command, options.selection.seed), left ? &*left : nullptr);
  campaign = &whole;
  const int code = whole.execute(std::move(benches), options.runs());
  const bool stdout_is_csv = options.csv == "-";
  fmt::print(
      stdout_is_csv ? stderr : stdout, "{}",
      summary_text(whole.records(), families, wants_colour(stdout_is_csv ? STDERR_FILENO : STDOUT_FILENO)));
  if (code == interrupted && !options.csv.empty() && options.csv != "-")
    fmt::print(stderr, "clweave: interrupted; clweave run --resume {} goes on\n", options.csv);
  return code;
}

}  // namespace clweave
