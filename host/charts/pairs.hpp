// SPDX-License-Identifier: Apache-2.0
// pairs: the chart of a matrix: a cell for each pair of units, from the times of a case's steps.
#pragma once
#include "report/drawn_graph.hpp"
#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::charts {

// Builds a chart of Graph::Kind::pairs: a panel for each device and choice of axes, of the case with the most
// iterations, in nanoseconds per item. The units stand in the order of their clusters; where they are many, a
// cell is the mean of those of several neighbours, so that a page can hold it.
DrawnGraph pairs_graph(const Graph&, const Family&, const ResultsSet&);

}  // namespace clweave::charts
