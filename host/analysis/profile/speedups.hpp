// SPDX-License-Identifier: Apache-2.0
// speedups: how many times as fast as a baseline the other cases of a family are.
#pragma once
#include <string>
#include <vector>

#include "report/report.hpp"
#include "results/results_set.hpp"

namespace clweave::suite {
struct Family;
struct Job;
}  // namespace clweave::suite

namespace clweave::profile {

// Holds every case against the fastest one of the same task with the values of `baseline`, "kernel=naive":
// the task is every axis that is neither tunable nor named there and means something in both. Where runs of
// both are of one process they are compared pair by pair, as a machine changes between processes: the ratio
// is the median of theirs (of an even number the geometric mean of the middle two), its interval the hull of
// theirs.
//
// Cases that failed, are unverified, or have no such baseline or another clock say so. Throws `usage` that
// lists the choices for an unknown axis or value.
Report speedups(const ResultsSet&, const std::vector<Family>&, const std::vector<std::string>& families,
                const std::vector<std::string>& baseline);

// Throws `usage` that lists the choices if none of these cases is of the baseline: before they are measured.
void need_baseline(const std::vector<Job>&, const std::vector<std::string>& baseline);

}  // namespace clweave::profile
