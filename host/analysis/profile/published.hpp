// SPDX-License-Identifier: Apache-2.0
// published: published figures beside what was measured here.
#pragma once
#include <vector>

#include "report/report.hpp"
#include "results/results_set.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::profile {

// Adds a table for each of these families that has both: per figure its case, the published devices, and per
// measured device the same launch configuration and its best one. Adds nothing if the set has no figures.
void add_published(Report&, const ResultsSet&, const std::vector<const Family*>&);

}  // namespace clweave::profile
