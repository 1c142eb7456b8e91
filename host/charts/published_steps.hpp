// SPDX-License-Identifier: Apache-2.0
// published_steps: a chart of the speed-ups of a family's steps beside those that were published.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "report/drawn_graph.hpp"
#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::charts {

// Builds a dot for each step (a value of the series of the graph with Graph::steps) and each device, measured
// or published. None if the family has no such graph, or nothing was published. `labels` are the devices'.
std::optional<DrawnGraph> published_steps(const Family&, const ResultsSet&,
                                          const std::vector<std::string>& labels);

}  // namespace clweave::charts
