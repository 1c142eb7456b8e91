// SPDX-License-Identifier: Apache-2.0
#include "campaign/campaign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "base/terminal.hpp"
#include "campaign/case_runner.hpp"
#include "results/disturbance.hpp"
#include "results/provenance.hpp"
#include "suite/family.hpp"

namespace clweave::campaign {

namespace {

constexpr int most_attempts = 2;  // at measuring a case during which the run itself ended

// Shuffles the jobs, so that drift (heat, other users of the machine) does not correlate with an axis. The
// order depends on the seed alone; std::shuffle's depends on the library, too.
void shuffle(std::vector<Job>& jobs, std::uint64_t seed) {
  const Random<std::uint64_t> draw(seed, 0xC0FFEE);
  for (std::size_t i = jobs.size(); i > 1; --i) std::swap(jobs[i - 1], jobs[draw(i) % i]);
}

std::string key_of(const DeviceInfo& device, const Job& job, int run) {
  Record key;
  describe_device(key, device);
  key.run = run;
  key.case_id = job.named().id();
  if (job.baseline) key.api = job.baseline->api;
  return row_key(key);
}

// Returns whether kernels were asked for and the device can run none of their cases. Peaks that are measured
// for the sake of others do not count, nor do baselines.
bool is_none_supported(const std::vector<Record>& records) {
  bool any = false, any_beside_peaks = false, runs = false, runs_beside_peaks = false;
  for (const auto& record : records) {
    if (!record.finding.empty() || record.is_baseline()) continue;
    const bool is_peak = record.family == suite::peak_family, ran = record.status != Status::unsupported;
    any = true;
    runs |= ran;
    any_beside_peaks |= !is_peak;
    runs_beside_peaks |= ran && !is_peak;
  }
  return any_beside_peaks ? !runs_beside_peaks : any && !runs;
}

// Notes in the row why the case was measured.
void note_origin(Record& record, const Job& job) {
  if (job.tuned) record.tuned = "yes";
  if (job.refined && record.ok()) record.reason = chosen_here;
  if (!record.ok() || (job.tuned_on.empty() && job.tuned_with.empty())) return;
  record.reason = "launched as was best";
  if (!job.tuned_with.empty()) record.reason += " with " + job.tuned_with;
  if (!job.tuned_on.empty()) record.reason += " on " + job.tuned_on;
}

}  // namespace

Campaign::Campaign(CampaignRules rules, Runner& runner, Record common, const Unfinished* resumed)
    : rules_(std::move(rules)),
      runner_(runner),
      common_(std::move(common)),
      resumed_(resumed),
      quiet_wait_(rules_.wait_quiet_s, rules_.environment, [this] { tick(); }) {
  if (resumed_ == nullptr) return;
  common_.run_id = resumed_->origin.run_id;
  for (const auto& record : resumed_->records) done_.emplace(row_key(record), &record);
}

// Adds what each step of a repetition is predicted to take, in seconds, and whether it measures a peak.
void Campaign::add_steps(const DevicePlan& plan, int run, std::vector<double>& predicted,
                         std::vector<bool>& are_peaks) const {
  for (const auto& group : groups_of(plan, run)) {
    for (const auto& job : group.jobs) {
      const bool again = rules_.peaks_once && job.is_peak && run > 1;
      predicted.push_back(again ? 0 : predicted_of(job, plan.device));
      are_peaks.push_back(job.is_peak);
    }
  }
}

Exit Campaign::execute(std::vector<DevicePlan> plans, std::vector<ParallelPlan> parallel_plans) {
  const int runs = rules_.runs;
  std::vector<double> predicted;
  std::vector<bool> are_peaks;
  for (int run = 1; run <= runs; ++run) {
    for (const auto& plan : plans) add_steps(plan, run, predicted, are_peaks);
    for (const auto& parallel : parallel_plans) add_steps(parallel.plans.front(), run, predicted, are_peaks);
  }
  for (const double seconds : predicted) remaining_s_ += seconds;
  predicted_ = predicted;
  Screen screen = screen_of(stderr);
  if (rules_.quiet) screen.live = false;
  progress_ = std::make_unique<Progress>(stderr, std::move(predicted), screen, rules_.environment.now);
  progress_->count_apart(peak_family, std::move(are_peaks));
  began_s_ = rules_.environment.now();
  for (int run = 1; run <= runs && rules_.environment.interrupts() == 0; ++run) {
    for (auto& plan : plans) {
      if (rules_.environment.interrupts() == 0) run_device(plan, run);
    }
    if (!parallel_plans.empty()) runner_.end();
    for (auto& parallel : parallel_plans) {
      if (rules_.environment.interrupts() == 0) run_parallel(parallel, run);
    }
  }
  progress_.reset();
  const bool was_interrupted = rules_.environment.interrupts() != 0;
  std::set<ResultsFile*> files;
  for (auto& parallel : parallel_plans)
    plans.insert(plans.end(), parallel.plans.begin(), parallel.plans.end());
  for (const auto& plan : plans) {
    if (was_interrupted) unfinished_.insert(plan.file->path());
    if (!unfinished_.contains(plan.file->path()) && files.insert(plan.file.get()).second) plan.file->finish();
  }
  if (was_interrupted) return interrupted;
  const bool failed = std::ranges::any_of(records_, &Record::failed) ||
                      std::ranges::any_of(parallel_records_, &Record::failed);
  return failed || (skipped_ == 0 && is_none_supported(records_)) ? case_failed : success;
}

bool Campaign::wait_quiet(const DeviceInfo& device) {
  return quiet_wait_.wait([&](const std::string& line) { progress_->note(line); },
                          [&] { return rules_.heat ? rules_.heat(device) : std::string(); });
}

void Campaign::tick() {
  if (progress_ != nullptr) progress_->tick();
}

double Campaign::predicted_of(const Job& job, const DeviceInfo& device) const {
  return predicted_seconds(job, device) + rules_.sampling.energy_s;
}

std::uint64_t Campaign::seed_of(int run) const {
  return rules_.seed + 1000003ULL * static_cast<std::uint64_t>(run);
}

// Orders the jobs: peaks first, then one family after the other, each followed by its baselines;
// known-incorrect cases last.
std::vector<Campaign::Group> Campaign::groups_of(const DevicePlan& plan, int run) const {
  std::vector<Group> groups;
  const auto add_baselines = [&] {
    if (groups.empty() || groups.back().baseline != nullptr || groups.back().jobs.front().known_incorrect)
      return;
    const Family* family = groups.back().jobs.front().family;
    for (const auto& baseline : plan.baselines) {
      Group group{{}, &baseline};
      std::ranges::copy_if(baseline.jobs, std::back_inserter(group.jobs),
                           [&](const Job& job) { return job.family == family; });
      if (!group.jobs.empty()) groups.push_back(std::move(group));
    }
  };
  std::string last;
  for (const auto& job : plan.jobs) {
    const std::string key = job.family->name + (job.known_incorrect ? " known incorrect" : "");
    if (groups.empty() || key != last) {
      add_baselines();
      groups.emplace_back();
    }
    groups.back().jobs.push_back(job);
    last = key;
  }
  add_baselines();
  for (auto& group : groups) shuffle(group.jobs, seed_of(run));
  return groups;
}

void Campaign::run_device(DevicePlan& plan, int run) {
  CaseRunner case_runner(runner_, *plan.file, plan.device, plan.jobs, common_, rules_.environment);
  case_runner.set_wait_quiet([&] { return wait_quiet(plan.device); });
  std::int64_t order = 0;
  bool has_all_cases = true;
  for (auto& group : groups_of(plan, run)) {
    const DeviceInfo& device = group.baseline != nullptr ? group.baseline->device : plan.device;
    Runner& runner = group.baseline != nullptr ? *group.baseline->runner : runner_;
    bool runner_started = false;
    for (std::size_t j = 0;; ++j) {
      // The family decides by the rows of all jobs so far, so it is asked after the last of them.
      if (j == group.jobs.size()) append_followup_jobs(group, plan, case_runner.plausibility(), run);
      if (j == group.jobs.size()) break;
      const Job& job = group.jobs[j];
      const std::size_t step = step_++;
      const double predicted_s = predicted_[step];
      ++order;
      remaining_s_ -= predicted_s;
      const std::string row = key_of(device, job, run);
      if (const auto it = done_.find(row); it != done_.end()) {
        if (group.baseline == nullptr) case_runner.add_measured_row(job, *it->second);
        records_.push_back(*it->second);
        continue;
      }
      if (rules_.environment.interrupts() != 0) return;
      if (take_known_peak(plan, case_runner, job, run)) continue;
      if (budget_spent()) {
        ++skipped_;
        has_all_cases = false;
        continue;
      }
      if (!std::exchange(runner_started, true)) {
        wait_quiet(device);
        runner.begin(device);
      }
      progress_->start(step, job.named().id());
      run_job(plan, case_runner, group, job, row, run, order, predicted_s);
    }
    if (runner_started && !plan.baselines.empty()) runner.end();
  }
  if (rules_.environment.interrupts() != 0) return;
  if (!has_all_cases) {
    unfinished_.insert(plan.file->path());
    return;
  }
  write_findings(plan, case_runner, run);
}

void Campaign::write_findings(const DevicePlan& plan, const CaseRunner& case_runner, int run) {
  for (auto& record : case_runner.plausibility().findings()) {
    record.run = run;
    if (rules_.peaks_once && run > 1 && record.family == peak_family) continue;  // as in the first
    if (done_.contains(row_key(record))) continue;
    fill_common_columns(record, common_, run);
    plan.file->write(record, {});
    records_.push_back(record);
  }
}

// Measures the plan's jobs on all its devices at once. Asks no family for more cases, because the devices
// must measure the same ones, and writes no findings, because other devices disturb these rows.
void Campaign::run_parallel(ParallelPlan& parallel, int run) {
  std::map<std::string, const Record*> alone;
  for (const auto& record : records_) {
    if (record.run == run) alone.emplace(row_key(record), &record);
  }
  const auto groups = groups_of(parallel.plans.front(), run);
  std::deque<CaseRunner> case_runners;
  for (const auto& plan : parallel.plans) {
    CaseRunner& case_runner =
        case_runners.emplace_back(runner_, *plan.file, plan.device, plan.jobs, common_, rules_.environment);
    // The peaks are those of the device alone.
    for (const auto& job : plan.jobs) {
      const auto it = alone.find(key_of(plan.device, job, run));
      if (it != alone.end()) case_runner.add_measured_row(job, *it->second);
    }
  }
  std::int64_t order = 0;
  for (const auto& group : groups) {
    bool devices_started = false;
    for (const auto& job : group.jobs) {
      const std::size_t step = step_++;
      const double predicted_s = predicted_[step];
      ++order;
      remaining_s_ -= predicted_s;
      if (rules_.environment.interrupts() != 0) return;
      if (budget_spent()) {
        ++skipped_;
        for (const auto& plan : parallel.plans) unfinished_.insert(plan.file->path());
        continue;
      }
      if (!std::exchange(devices_started, true)) parallel.devices->begin();
      progress_->start(step, "parallel  " + job.named().id());
      auto rows = parallel.devices->run(job, sampling_of(job, predicted_s));
      if (!rows) return;
      ++measured_;
      for (std::size_t c = 0; c < rows->size(); ++c) {
        Row& row = (*rows)[c];
        case_runners[c].check_parallel(row, job);
        note_origin(row.record, job);
        case_runners[c].write(row, run, order, [&](const std::string& line) { progress_->note(line); });
        parallel_records_.push_back(row.record);
      }
    }
  }
  parallel.devices->end();
}

// Returns the cases that the family asks for, given the rows so far. A later repetition gets the cases of the
// first, so that every repetition measures the same ones.
std::vector<Job> Campaign::asked_by_family(const Group& group, const DevicePlan& plan,
                                           const PlausibilityCheck& plausibility, int run) {
  const Job& first = group.jobs.front();
  const Family& family = *first.family;
  const bool refines = plan.refines || first.is_peak;
  if (!refines || !family.refine || first.known_incorrect) return {};
  auto& [first_run, known] = refined_[{plan.device.index(), &family}];
  if (known.empty()) first_run = run;
  if (first_run == run) {
    DeviceInfo device = plan.device;
    device.cache_bytes = std::max(device.cache_bytes, static_cast<std::int64_t>(plausibility.cache_bytes()));
    for (auto& at : family.refine(plausibility.outcomes(family), device)) {
      if (std::ranges::find(known, at.id(), &Case::id) == known.end()) known.push_back(std::move(at));
    }
  }
  std::vector<Job> out;
  for (const auto& at : known)
    out.push_back({.family = &family, .at = at, .is_peak = first.is_peak, .refined = true});
  if (!plan.with_tuned) return out;
  return plan.with_tuned(std::move(out), [&](const std::string& line) { progress_->note(line); });
}

// Returns the baseline's jobs that do the work of the cases which the family asked for.
std::vector<Job> Campaign::asked_of_baseline(Group& group, const DevicePlan& plan) const {
  const Family& family = *group.jobs.front().family;
  const auto known = refined_.find({plan.device.index(), &family});
  if (std::exchange(group.asked, true) || !group.baseline->more || known == refined_.end()) return {};
  std::vector<Job> ours;
  for (const auto& at : known->second.cases) ours.push_back({.family = &family, .at = at});
  auto out = ours.empty() ? ours : group.baseline->more(ours);
  for (auto& job : out) job.refined = true;
  return out;
}

// Appends to the group the cases that its family, or the baseline's, asks for after its jobs so far.
void Campaign::append_followup_jobs(Group& group, const DevicePlan& plan,
                                    const PlausibilityCheck& plausibility, int run) {
  if (rules_.environment.interrupts() != 0) return;
  const auto key = [](const Job& job) { return job.named().id() + (job.baseline ? job.baseline->api : ""); };
  std::set<std::string> ids;
  for (const auto& job : group.jobs) ids.insert(key(job));
  std::vector<double> predicted;
  auto more = group.baseline != nullptr ? asked_of_baseline(group, plan)
                                        : asked_by_family(group, plan, plausibility, run);
  for (auto& job : more) {
    if (!ids.insert(key(job)).second) continue;
    predicted.push_back(predicted_of(job, plan.device));
    remaining_s_ += predicted.back();
    group.jobs.push_back(std::move(job));
  }
  predicted_.insert(predicted_.begin() + static_cast<std::ptrdiff_t>(step_), predicted.begin(),
                    predicted.end());
  progress_->insert(step_, predicted);
}

// Takes the row of this peak from an earlier repetition. Returns whether there is one that nothing slowed.
bool Campaign::take_known_peak(const DevicePlan& plan, CaseRunner& case_runner, const Job& job,
                               int run) const {
  if (!rules_.peaks_once || !job.is_peak) return false;
  std::set<std::string> keys;
  for (int earlier = 1; earlier < run; ++earlier) keys.insert(key_of(plan.device, job, earlier));
  const auto it = std::ranges::find_if(records_, [&](const Record& record) {
    return record.ok() && record.time_s && !is_slowed(record) && keys.contains(row_key(record));
  });
  if (it == records_.end()) return false;
  case_runner.add_measured_row(job, *it);
  return true;
}

void Campaign::run_job(DevicePlan& plan, CaseRunner& case_runner, const Group& group, const Job& job,
                       const std::string& key, int run, std::int64_t order, double predicted_s) {
  const int attempt =
      resumed_ != nullptr && resumed_->running_key == key ? resumed_->running_attempts + 1 : 1;
  Row row;
  if (attempt > most_attempts) {
    row = failed_row(group.baseline != nullptr ? group.baseline->device : plan.device, job,
                     ErrorCode::crashed, "the run ended twice while this case was running");
  } else {
    plan.file->mark_started(key, attempt);
    // Rows of baselines are not checked against those of kernels.
    auto got = group.baseline != nullptr
                   ? case_runner.run_in_quiet(*group.baseline->runner, job, sampling_of(job, predicted_s))
                   : case_runner.run(job, sampling_of(job, predicted_s));
    if (!got) return;
    row = std::move(*got);
  }
  note_origin(row.record, job);
  ++measured_;
  case_runner.write(row, run, order, [&](const std::string& line) { progress_->note(line); });
  if (row.wrong) wrong_rows_.push_back({job.family, row.record, *row.wrong});
  records_.push_back(row.record);
}

SamplingOptions Campaign::sampling_of(const Job& job, double predicted_s) const {
  SamplingOptions sampling = job.is_peak ? rules_.peak_sampling.value_or(rules_.sampling) : rules_.sampling;
  if (!rules_.budget_s) return sampling;
  // Divides the rest of the budget in proportion to the predicted times; half of a case's time is not
  // sampling.
  const double share_s = budget_left_s() * predicted_s / std::max(predicted_s + remaining_s_, 1e-9) / 2;
  sampling.stop.max_seconds = std::clamp(share_s, 1e-3, sampling.stop.max_seconds);
  return sampling;
}

}  // namespace clweave::campaign
