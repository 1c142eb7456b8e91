// SPDX-License-Identifier: Apache-2.0
// graph: builds the charts that a family asks for (View::graphs) from results.
#pragma once
#include <vector>

#include "report/drawn_graph.hpp"
#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::charts {

// Builds the charts of a family, or the one of its table if it has none. Leaves out those that fewer than two
// cases fill. A case is drawn as the middle of its warm runs.
std::vector<DrawnGraph> graphs_of(const Family&, const ResultsSet&);

// Builds one chart, which may come from the command line.
DrawnGraph drawn(const Graph&, const Family&, const ResultsSet&);

}  // namespace clweave::charts
