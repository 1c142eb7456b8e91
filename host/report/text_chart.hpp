// SPDX-License-Identifier: Apache-2.0
// text_chart: charts drawn with letters and Braille dots of a terminal.
#pragma once
#include <string>

#include "base/terminal.hpp"
#include "report/drawn_graph.hpp"

namespace clweave::report {

// Draws the first panel: curves with a letter at each point, references as dots, or bars. Whole lines; empty
// without points.
std::string text_of(const DrawnGraph&, const Screen&);

// The letter of a series in curves and rooflines, for tables that refer to it.
std::string letter_of_series(std::size_t);

}  // namespace clweave::report
