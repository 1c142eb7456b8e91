// SPDX-License-Identifier: Apache-2.0
#include "campaign/campaign.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/random.hpp"
#include "base/terminal.hpp"
#include "campaign/case_runner.hpp"
#include "results/provenance.hpp"
#include "suite/family.hpp"

namespace clweave::campaign {

namespace {

constexpr int most_attempts = 2;  // at a case during which the whole run ended

// Shuffled, so that what drifts (heat, neighbours) does not line up with an axis. The order is the same for
// the same seed everywhere: std::shuffle's is not.
void shuffle(std::vector<Job>& jobs, std::uint64_t seed) {
  const Random<std::uint64_t> draw(seed, 0xC0FFEE);
  for (std::size_t i = jobs.size(); i > 1; --i) std::swap(jobs[i - 1], jobs[draw(i) % i]);
}

std::string key_of(const DeviceInfo& device, const Job& job, int run) {
  Record key;
  describe_device(key, device);
  key.run = run;
  key.case_id = job.named().id();
  if (job.native) key.api = job.native->api;
  return row_key(key);
}

// Who chose the case.
void tell_origin(Record& record, const Job& job) {
  if (job.tuned) record.tuned = "yes";
  if (job.refined && record.ok()) record.reason = chosen_here;
  if (!record.ok() || (job.tuned_on.empty() && job.tuned_with.empty())) return;
  record.reason = "launched as was best";
  if (!job.tuned_with.empty()) record.reason += " with " + job.tuned_with;
  if (!job.tuned_on.empty()) record.reason += " on " + job.tuned_on;
}

}  // namespace

Campaign::Campaign(CampaignRules rules, Runner& runner, Record common, const Unfinished* left)
    : rules_(std::move(rules)), runner_(runner), common_(std::move(common)), left_(left) {
  if (left_ == nullptr) return;
  common_.run_id = left_->origin.run_id;
  for (const auto& record : left_->records) done_.emplace(row_key(record), &record);
}

Exit Campaign::execute(std::vector<DevicePlan> benches, std::vector<AtOnce> at_once) {
  const int runs = rules_.runs;
  std::vector<double> predicted;
  for (int run = 1; run <= runs; ++run) {
    const auto predict = [&](const DevicePlan& bench) {
      for (const auto& group : groups_of(bench, run)) {
        for (const auto& job : group.jobs) predicted.push_back(predicted_of(job, bench.device));
      }
    };
    for (const auto& bench : benches) predict(bench);
    for (const auto& cards : at_once) predict(cards.benches.front());
  }
  for (const double seconds : predicted) left_s_ += seconds;
  predicted_ = predicted;
  Screen screen = screen_of(STDERR_FILENO);
  if (rules_.quiet) screen.live = false;
  progress_ = std::make_unique<Progress>(stderr, std::move(predicted), screen, rules_.outside.now);
  began_s_ = rules_.outside.now();
  for (int run = 1; run <= runs && rules_.outside.interrupts() == 0; ++run) {
    for (auto& bench : benches) {
      if (rules_.outside.interrupts() == 0) run_device(bench, run);
    }
    if (!at_once.empty()) runner_.end();
    for (auto& cards : at_once) {
      if (rules_.outside.interrupts() == 0) run_at_once(cards, run);
    }
  }
  progress_.reset();
  const bool ended = rules_.outside.interrupts() != 0;
  std::set<ResultsFile*> files;
  for (auto& cards : at_once) benches.insert(benches.end(), cards.benches.begin(), cards.benches.end());
  for (const auto& bench : benches) {
    if (ended) unfinished_.insert(bench.file->path());
    if (!unfinished_.contains(bench.file->path()) && files.insert(bench.file.get()).second)
      bench.file->finish();
  }
  if (ended) return interrupted;
  const bool failed = std::ranges::any_of(records_, &Record::failed) ||
                      std::ranges::any_of(at_once_records_, &Record::failed);
  return failed ? case_failed : success;
}

void Campaign::tick() {
  if (progress_ != nullptr) progress_->tick();
}

double Campaign::predicted_of(const Job& job, const DeviceInfo& device) const {
  return predicted_seconds(job, device) + rules_.measuring.energy_s;
}

std::uint64_t Campaign::seed_of(int run) const {
  return rules_.seed + 1000003ULL * static_cast<std::uint64_t>(run);
}

// Ceilings first of all, then a family after the other, each beside what rivals have of it; exhibits last.
std::vector<Campaign::Group> Campaign::groups_of(const DevicePlan& bench, int run) const {
  std::vector<Group> groups;
  const auto add_baselines = [&] {
    if (groups.empty() || groups.back().rival != nullptr || groups.back().jobs.front().exhibit) return;
    const Family* family = groups.back().jobs.front().family;
    for (const auto& rival : bench.rivals) {
      Group group{{}, &rival};
      std::ranges::copy_if(rival.jobs, std::back_inserter(group.jobs),
                           [&](const Job& job) { return job.family == family; });
      if (!group.jobs.empty()) groups.push_back(std::move(group));
    }
  };
  std::string last;
  for (const auto& job : bench.jobs) {
    const std::string key = job.family->name + (job.exhibit ? " exhibits" : "");
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

void Campaign::run_device(DevicePlan& bench, int run) {
  CaseRunner examiner(runner_, *bench.file, bench.device, bench.jobs, common_, rules_.outside);
  std::int64_t order = 0;
  bool whole = true;
  for (auto& group : groups_of(bench, run)) {
    const DeviceInfo& device = group.rival != nullptr ? group.rival->device : bench.device;
    Runner& runner = group.rival != nullptr ? *group.rival->runner : runner_;
    bool begun = false;
    for (std::size_t j = 0; j < group.jobs.size() || extend(group, bench, examiner.judge(), run); ++j) {
      const Job& job = group.jobs[j];
      const std::size_t step = step_++;
      const double predicted_s = predicted_[step];
      ++order;
      left_s_ -= predicted_s;
      const std::string row = key_of(device, job, run);
      if (const auto it = done_.find(row); it != done_.end()) {
        if (group.rival == nullptr) examiner.remember(job, *it->second);
        records_.push_back(*it->second);
        continue;
      }
      if (rules_.outside.interrupts() != 0) return;
      if (budget_spent()) {
        ++left_out_;
        whole = false;
        continue;
      }
      if (!begun) runner.begin(device);
      begun = true;
      progress_->start(step, job.named().id());
      run_job(bench, examiner, group, job, row, run, order, predicted_s);
    }
    if (begun && !bench.rivals.empty()) runner.end();
  }
  if (rules_.outside.interrupts() != 0) return;
  if (!whole) {
    unfinished_.insert(bench.file->path());
    return;
  }
  for (auto& record : examiner.judge().findings()) {
    record.run = run;
    if (done_.contains(row_key(record))) continue;
    stamp(record, common_, run);
    bench.file->write(record, {});
    records_.push_back(record);
  }
}

// Without what families ask for on the way: another device may ask for something else. Nor do rows of
// devices that are disturbed conclude anything.
void Campaign::run_at_once(AtOnce& cards, int run) {
  std::map<std::string, const Record*> alone;
  for (const auto& record : records_) {
    if (record.run == run) alone.emplace(row_key(record), &record);
  }
  const auto groups = groups_of(cards.benches.front(), run);
  std::deque<CaseRunner> examiners;
  for (const auto& bench : cards.benches) {
    CaseRunner& examiner =
        examiners.emplace_back(runner_, *bench.file, bench.device, bench.jobs, common_, rules_.outside);
    // What a device can do is what it did alone.
    for (const auto& job : bench.jobs) {
      const auto it = alone.find(key_of(bench.device, job, run));
      if (it != alone.end()) examiner.remember(job, *it->second);
    }
  }
  std::int64_t order = 0;
  for (const auto& group : groups) {
    bool begun = false;
    for (const auto& job : group.jobs) {
      const std::size_t step = step_++;
      const double predicted_s = predicted_[step];
      ++order;
      left_s_ -= predicted_s;
      if (rules_.outside.interrupts() != 0) return;
      if (budget_spent()) {
        ++left_out_;
        for (const auto& bench : cards.benches) unfinished_.insert(bench.file->path());
        continue;
      }
      if (!std::exchange(begun, true)) cards.crew->begin();
      progress_->start(step, "at once  " + job.named().id());
      auto rows = cards.crew->run(job, rule_of(predicted_s));
      if (!rows) return;
      ++measured_;
      for (std::size_t c = 0; c < rows->size(); ++c) {
        Row& row = (*rows)[c];
        examiners[c].judge_beside_others(row, job);
        tell_origin(row.record, job);
        examiners[c].write(row, run, order, [&](const std::string& line) { progress_->note(line); });
        at_once_records_.push_back(row.record);
      }
    }
  }
  cards.crew->end();
}

// What its family asks for now that it knows the rest. Later runs have the same and no more: what is to be
// held against each other round by round is in all of them.
std::vector<Job> Campaign::asked_by_family(const Group& group, const DevicePlan& bench,
                                           const PlausibilityCheck& judge, int run) {
  const Job& first = group.jobs.front();
  const Family& family = *first.family;
  const bool refines = bench.refines || first.is_ceiling;
  if (!refines || !family.refine || first.exhibit) return {};
  auto& [first_run, known] = refined_[{bench.device.index(), &family}];
  if (known.empty()) first_run = run;
  if (first_run == run) {
    DeviceInfo device = bench.device;
    device.cache_bytes = std::max(device.cache_bytes, static_cast<std::int64_t>(judge.cache_bytes()));
    for (auto& at : family.refine(judge.outcomes(family), device)) {
      if (std::ranges::find(known, at.id(), &Case::id) == known.end()) known.push_back(std::move(at));
    }
  }
  std::vector<Job> out;
  for (const auto& at : known)
    out.push_back({.family = &family, .at = at, .is_ceiling = first.is_ceiling, .refined = true});
  if (!bench.with_tuned) return out;
  return bench.with_tuned(std::move(out), [&](const std::string& line) { progress_->note(line); });
}

// What a rival has of the work of those.
std::vector<Job> Campaign::asked_of_rival(Group& group, const DevicePlan& bench) const {
  const Family& family = *group.jobs.front().family;
  const auto known = refined_.find({bench.device.index(), &family});
  if (std::exchange(group.asked, true) || !group.rival->more || known == refined_.end()) return {};
  std::vector<Job> ours;
  for (const auto& at : known->second.cases) ours.push_back({.family = &family, .at = at});
  auto out = ours.empty() ? ours : group.rival->more(ours);
  for (auto& job : out) job.refined = true;
  return out;
}

// Puts behind the group what turned out to be worth measuring besides.
bool Campaign::extend(Group& group, const DevicePlan& bench, const PlausibilityCheck& judge, int run) {
  if (rules_.outside.interrupts() != 0) return false;
  const auto key = [](const Job& job) { return job.named().id() + (job.native ? job.native->api : ""); };
  std::set<std::string> ids;
  for (const auto& job : group.jobs) ids.insert(key(job));
  std::vector<double> predicted;
  auto more =
      group.rival != nullptr ? asked_of_rival(group, bench) : asked_by_family(group, bench, judge, run);
  for (auto& job : more) {
    if (!ids.insert(key(job)).second) continue;
    predicted.push_back(predicted_of(job, bench.device));
    left_s_ += predicted.back();
    group.jobs.push_back(std::move(job));
  }
  predicted_.insert(predicted_.begin() + static_cast<std::ptrdiff_t>(step_), predicted.begin(),
                    predicted.end());
  progress_->insert(step_, predicted);
  return !predicted.empty();
}

void Campaign::run_job(DevicePlan& bench, CaseRunner& examiner, const Group& group, const Job& job,
                       const std::string& key, int run, std::int64_t order, double predicted_s) {
  const int attempt = left_ != nullptr && left_->running_key == key ? left_->running_attempts + 1 : 1;
  Row row;
  if (attempt > most_attempts) {
    row = failed_row(group.rival != nullptr ? group.rival->device : bench.device, job, ErrorCode::crashed,
                     "the run ended twice while this case was running");
  } else {
    bench.file->running(key, attempt);
    // A rival's row is no measure for ours.
    auto got = group.rival != nullptr ? group.rival->runner->run(job, rule_of(predicted_s))
                                      : examiner.measured(job, rule_of(predicted_s));
    if (!got) return;
    row = std::move(*got);
  }
  tell_origin(row.record, job);
  ++measured_;
  examiner.write(row, run, order, [&](const std::string& line) { progress_->note(line); });
  records_.push_back(row.record);
}

SamplingOptions Campaign::rule_of(double predicted_s) const {
  SamplingOptions rule = rules_.measuring;
  if (!rules_.budget_s) return rule;
  // What is left of the budget, shared by what is predicted for the rest; half of a case is not sampling.
  const double share_s = budget_left_s() * predicted_s / std::max(predicted_s + left_s_, 1e-9) / 2;
  rule.stop.max_seconds = std::clamp(share_s, 1e-3, rule.stop.max_seconds);
  return rule;
}

}  // namespace clweave::campaign
