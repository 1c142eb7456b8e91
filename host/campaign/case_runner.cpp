// SPDX-License-Identifier: Apache-2.0
#include "campaign/case_runner.hpp"

#include <fmt/format.h>

#include "results/provenance.hpp"
#include "suite/family.hpp"

namespace clweave::campaign {

namespace {

constexpr int most_repetitions = 3;  // of an implausible row
// A machine that is busy all the time would double the time of a run: after so many rows in a row that were
// disturbed twice, each is measured once, until one is not disturbed.
constexpr int most_disturbed_again = 3;
// Limits how often each peak is measured again, because a family whose every row exceeds its peaks must
// not turn minutes into hours. Further rows are checked against the peaks as known.
constexpr std::size_t most_runs_of_each = 20;

Peak peak_of(const Job& job, const DeviceInfo& device) {
  try {
    return plan_of(*job.family, job.at, device).peak;
  } catch (const Error&) {  // the job itself becomes the row that says so
    return Peak::none;
  }
}

bool of_one_kind(Peak a, Peak b) { return a == b || (of_memory(a) && of_memory(b)); }

}  // namespace

CaseRunner::CaseRunner(Runner& runner, ResultsFile& file, const DeviceInfo& device,
                       const std::vector<Job>& jobs, const Record& common, const Environment& environment)
    : runner_(runner), file_(file), common_(common), environment_(environment), plausibility_(device) {
  for (const auto& job : jobs) {
    if (!job.is_peak) continue;
    if (const Peak peak = peak_of(job, device); peak != Peak::none) peaks_.push_back({job, peak});
  }
  peak_runs_left_ =  // NOLINT(cppcoreguidelines-prefer-member-initializer): of the peaks found above
      most_runs_of_each * peaks_.size();
}

std::optional<Row> CaseRunner::run(const Job& job, const SamplingOptions& sampling,
                                   const std::function<bool()>& in_time) {
  auto row = run_in_quiet(runner_, job, sampling, in_time);
  if (!row) return {};
  Implausible problem = plausibility_.check(*row, job);
  const auto recheck = [&] {
    if (!problem) return;
    measure_contradicted(problem, *row, job, sampling, in_time);
    problem = plausibility_.check(*row, job);
  };
  recheck();
  for (int again = 0; problem && again < (problem.undecided ? 1 : most_repetitions) && in_time(); ++again) {
    if (environment_.interrupts() != 0) return {};
    auto second = runner_.run(job, sampling);
    if (!second) return {};
    row = std::move(second);
    problem = plausibility_.check(*row, job);
    recheck();
  }
  // An undecided case gets no row, so that a resumed run measures it again.
  if (problem && environment_.interrupts() != 0) return {};
  plausibility_.complete(*row, job, problem);
  return row;
}

std::optional<Row> CaseRunner::run_in_quiet(Runner& runner, const Job& job, const SamplingOptions& sampling,
                                            const std::function<bool()>& in_time) {
  auto row = runner.run(job, sampling);
  if (sampling.stop.precision <= no_precision) return row;  // preset smoke is no measurement
  if (!row || !row->record.ok() || row->record.disturbed.empty()) {
    disturbed_again_ = 0;
    return row;
  }
  const bool waited = wait_quiet_ && wait_quiet_();
  if ((!waited && disturbed_again_ >= most_disturbed_again) || environment_.interrupts() != 0 || !in_time())
    return row;
  auto second = runner.run(job, sampling);
  if (!second) return {};
  const bool disturbed = second->record.ok() && !second->record.disturbed.empty();
  disturbed_again_ = disturbed ? disturbed_again_ + 1 : 0;
  return disturbed ? row : second;
}

void CaseRunner::measure_contradicted(const Implausible& problem, const Row& row, const Job& job,
                                      const SamplingOptions& sampling, const std::function<bool()>& in_time) {
  const auto measure = [&](const Job& other) {
    if (environment_.interrupts() != 0 || !in_time()) return;
    SamplingOptions times = sampling;
    times.energy_s = 0;
    if (const auto seen = runner_.run(other, times)) plausibility_.learn(*seen, other);
  };
  if (problem.sibling) measure({.family = job.family, .at = *problem.sibling});
  if (problem.against != Implausible::Against::peak) return;
  for (const auto& [peak, of] : peaks_) {
    if (peak_runs_left_ == 0 || !of_one_kind(of, row.record.peak)) continue;
    --peak_runs_left_;
    measure(peak);
  }
}

void CaseRunner::add_measured_row(const Job& job, const Record& record) {
  Row row{record, {}, 0};
  Implausible problem;
  if (record.status == Status::implausible) problem = {Implausible::Against::stamps, record.reason};
  plausibility_.complete(row, job, problem);
}

void CaseRunner::check_parallel(Row& row, const Job& job) {
  Implausible problem = plausibility_.check(row, job);
  if (problem.against == Implausible::Against::sibling) problem = {};
  plausibility_.complete(row, job, problem);
}

void CaseRunner::write(Row& row, int run, std::int64_t order,
                       const std::function<void(const std::string&)>& note) {
  Record& record = row.record;
  record.order = order;
  fill_common_columns(record, common_, run);
  file_.write(record, row.samples);
  if (record.failed()) note(fmt::format("{}  {}  {}", record.status, record.case_id, record.reason));
}

}  // namespace clweave::campaign
