// SPDX-License-Identifier: Apache-2.0
// svg: a chart as a picture for papers and pages, drawn without a browser.
#pragma once
#include <string>

#include "report/drawn_graph.hpp"

namespace clweave::charts {

// Draws a panel for each device, of the setting with the most points. Escapes all text: names are data.
// Throws `usage` for a chart without panels.
std::string svg_of(const DrawnGraph&);

}  // namespace clweave::charts
