// SPDX-License-Identifier: Apache-2.0
// vega: charts as Vega-Lite specifications. The data is apart from the specification: rows of named columns.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "report/drawn_graph.hpp"

namespace clweave::charts {

// Returns a chart of the page: {"kind", "shape", "name", "spec", "columns", "panels", ..}. A panel is
// {"device", "at", "title", "note"} and its data: "rows", "marks", "fits", "references", "labels". The page's
// script gives the specification its width and that data.
nlohmann::json chart_of(const DrawnGraph&);

}  // namespace clweave::charts
