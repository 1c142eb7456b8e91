// SPDX-License-Identifier: Apache-2.0
// published: the figures of texts beside what was measured here, one row each.
#pragma once
#include <vector>

#include "report/report.hpp"
#include "results/results_set.hpp"

namespace clweave::suite {
struct Family;
}  // namespace clweave::suite

namespace clweave::profile {

// A table for each of these families that has figures and rows: per figure its case, what each published
// device did, and per measured device what it does launched alike, and launched as it is fastest here.
// Nothing without figures in the set.
void add_published(Report&, const ResultsSet&, const std::vector<const Family*>&);

}  // namespace clweave::profile
