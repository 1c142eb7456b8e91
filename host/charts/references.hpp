// SPDX-License-Identifier: Apache-2.0
// references: the curves that a chart's points are compared with: other programs, a copy, Little's law.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/rows/metric.hpp"
#include "charts/cases.hpp"
#include "report/drawn_graph.hpp"

namespace clweave::charts {

// The programs that ran on a device, each with the middle of its looks.
std::vector<BaselineTime> programs_on(const ResultsSet&, const DeviceResults&);

// Returns the curves of the programs that do what the panel shows, over the panel's `xs`. `first` is one of
// the panel's cases.
std::vector<GraphReference> program_curves(const Graph&, const Family&, const Metric&,
                                           const std::vector<BaselineTime>& programs, const GraphCase& first,
                                           const std::set<double>& xs);
// Returns "cub.csv, ..": the files that the curves of programs are from.
std::string files_of(const std::vector<GraphReference>&, const std::vector<BaselineTime>& programs,
                     const ResultsSet&);

// Returns the rate of a copy of as many bytes, from rows that know their fraction of it; without points if
// another peak bounds them.
GraphReference copy_curve(const std::map<double, const RunTime*>& by_x, const Metric&);

// Little's law: throughput is proportional to the concurrency x until `needed` are in flight, then `most`.
GraphReference little_curve(double needed, double most, double low_x, double high_x);

// Drops points that a line does not need.
void thin(std::vector<std::pair<double, double>>& points);

}  // namespace clweave::charts
