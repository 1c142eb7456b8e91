// SPDX-License-Identifier: Apache-2.0
#include "campaign/case_runner.hpp"

#include <fmt/format.h>

#include "results/provenance.hpp"
#include "suite/family.hpp"

namespace clweave::campaign {

namespace {

constexpr int second_looks = 3;  // at a row that cannot be true
// A family whose every row beats its ceilings must not make a run of minutes one of hours: after so many
// looks at each ceiling its rows are held against what is known.
constexpr std::size_t looks_at_each = 20;

Ceiling ceiling_of(const Job& job, const DeviceInfo& device) {
  try {
    return plan_of(*job.family, job.at, device).ceiling;
  } catch (const Error&) {  // the job itself becomes the row that says so
    return Ceiling::none;
  }
}

bool of_one_kind(Ceiling a, Ceiling b) { return a == b || (of_memory(a) && of_memory(b)); }

}  // namespace

CaseRunner::CaseRunner(Runner& runner, ResultsFile& file, const DeviceInfo& device,
                       const std::vector<Job>& jobs, const Record& common, const Environment& outside)
    : runner_(runner), file_(file), common_(common), outside_(outside), judge_(device) {
  for (const auto& job : jobs) {
    if (!job.is_ceiling) continue;
    if (const Ceiling ceiling = ceiling_of(job, device); ceiling != Ceiling::none)
      ceilings_.push_back({job, ceiling});
  }
  looks_left_ =  // NOLINT(cppcoreguidelines-prefer-member-initializer): of the ceilings found above
      looks_at_each * ceilings_.size();
}

std::optional<Row> CaseRunner::measured(const Job& job, const SamplingOptions& rule,
                                        const std::function<bool()>& in_time) {
  auto row = runner_.run(job, rule);
  if (!row) return {};
  Implausible doubt = judge_.doubt(*row, job);
  const auto look = [&] {
    look_beside(doubt, *row, job, rule, in_time);
    doubt = judge_.doubt(*row, job);
  };
  if (doubt) look();
  for (int again = 0; doubt && again < second_looks && in_time(); ++again) {
    if (outside_.interrupts() != 0) return {};
    auto second = runner_.run(job, rule);
    if (!second) return {};
    row = std::move(second);
    doubt = judge_.doubt(*row, job);
    if (doubt) look();
  }
  // What was left undecided is no row: resumed, the run decides it.
  if (doubt && outside_.interrupts() != 0) return {};
  judge_.complete(*row, job, doubt);
  return row;
}

void CaseRunner::look_beside(const Implausible& doubt, const Row& row, const Job& job,
                             const SamplingOptions& rule, const std::function<bool()>& in_time) {
  const auto look_at = [&](const Job& other) {
    if (outside_.interrupts() != 0 || !in_time()) return;
    SamplingOptions times = rule;
    times.energy_s = 0;
    if (const auto seen = runner_.run(other, times)) judge_.learn(*seen, other);
  };
  if (doubt.sibling) look_at({.family = job.family, .at = *doubt.sibling});
  if (doubt.against != Implausible::Against::ceiling) return;
  for (const auto& [ceiling, of] : ceilings_) {
    if (looks_left_ == 0 || !of_one_kind(of, row.record.ceiling)) continue;
    --looks_left_;
    look_at(ceiling);
  }
}

void CaseRunner::remember(const Job& job, const Record& record) {
  Row row{record, {}, 0};
  Implausible doubt;
  if (record.status == Status::implausible) doubt = {Implausible::Against::stamps, record.reason};
  judge_.complete(row, job, doubt);
}

void CaseRunner::judge_beside_others(Row& row, const Job& job) {
  Implausible doubt = judge_.doubt(row, job);
  if (doubt.against == Implausible::Against::sibling) doubt = {};
  judge_.complete(row, job, doubt);
}

void CaseRunner::write(Row& row, int run, std::int64_t order,
                       const std::function<void(const std::string&)>& note) {
  Record& record = row.record;
  record.order = order;
  stamp(record, common_, run);
  file_.write(record, row.samples);
  if (record.failed()) note(fmt::format("{}  {}  {}", record.status, record.case_id, record.reason));
}

}  // namespace clweave::campaign
