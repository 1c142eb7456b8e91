// SPDX-License-Identifier: Apache-2.0
// svg: a family's chart as a picture for papers and pages, drawn here: no browser is needed.
#pragma once
#include <string>
#include <vector>

#include "charts/graph.hpp"

namespace clweave::charts {

// A panel for each device, by its setting with the most points; `names` are the devices', as device_labels
// has them. Text is escaped: names are data. Throws `usage` where there is nothing to draw.
std::string svg_of(const DrawnGraph&, const std::vector<const DeviceResults*>&,
                   const std::vector<std::string>& names);

}  // namespace clweave::charts
