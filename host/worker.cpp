// SPDX-License-Identifier: Apache-2.0
#include "worker.hpp"

#include <algorithm>
#include <map>

#include "run.hpp"

namespace clweave {

namespace {

Record row_of(const Finding& finding, const Family& family, const DeviceInfo& device) {
  Record record;
  describe_device(record, device);
  record.family = family.name;
  record.case_id = family.name + "/finding=" + finding.name;
  record.status = "ok";
  record.reason = finding.text;
  record.finding = finding.name;
  record.value = finding.value;
  record.unit = finding.unit;
  return record;
}

}  // namespace

void run_jobs(Session& session, const std::vector<Job>& jobs, const Measuring& rule, const Watcher& watcher) {
  std::map<std::string, double> ceilings;                  // best rate by name
  std::map<const Family*, std::vector<Outcome>> outcomes;  // of what was ok
  std::vector<const Family*> order;
  for (std::size_t j = 0; j < jobs.size() && !watcher.stop(); ++j) {
    const auto& [family, at, is_ceiling] = jobs[j];
    watcher.started(j);
    Record record = run_case(session, *family, at, rule);
    if (record.ok()) {
      const Number rate = rate_of(record);
      if (is_ceiling) {
        double& best = ceilings[record.ceiling];
        best = std::max(best, rate.value_or(0));
      } else if (const auto it = ceilings.find(record.ceiling); it != ceilings.end() && rate) {
        record.of_ceiling = *rate / it->second;
      }
      if (!outcomes.contains(family)) order.push_back(family);
      outcomes[family].push_back({at, *record.time_s});
    }
    watcher.finished(record);
  }
  for (const auto* family : order) {
    if (!family->findings) continue;
    for (const auto& finding : family->findings(outcomes[family], session.info())) {
      Record record = row_of(finding, *family, session.info());
      watcher.finished(record);
    }
  }
}

}  // namespace clweave
