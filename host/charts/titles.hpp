// SPDX-License-Identifier: Apache-2.0
// titles: the words of a chart: its axes, its devices, and the sentence that says what it shows.
#pragma once
#include <string>
#include <vector>

#include "charts/cases.hpp"
#include "report/drawn_graph.hpp"
#include "results/results_set.hpp"
#include "suite/family.hpp"

namespace clweave::charts {

// Formats values, with the name of their axis if they need it or `all_names` is set: "n=1024 uint".
std::string key_text(const Names& axes, const Key&, bool all_names = true);

// Formats the title of an axis of a chart: "n: elements" for one axis, "group x groups" for several.
std::string axis_title(const Names& axes, const Family&);

// Returns the device's finding of that name, null if none. {type} in the name stands for the panel's value of
// that axis.
const Finding* finding_of(const DeviceResults&, const Family&, const std::string& name,
                          const CaseName& panel);

// Returns what the family found, else the strongest statement that the points make by themselves.
std::string sentence(const Graph&, const Family&, const DrawnGraph&, const GraphPanel&, const DeviceResults&,
                     const CaseName& name);

// Returns a unique name for each device.
std::vector<std::string> device_labels(const std::vector<const DeviceResults*>&);

}  // namespace clweave::charts
