// SPDX-License-Identifier: Apache-2.0
// vega: charts as Vega-Lite has them. Data is apart from the specification: rows under named columns.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "charts/graph.hpp"

namespace clweave::charts {

using Json = nlohmann::json;

// A chart of the page: {"kind", "name", "spec", "columns", "panels"}; a panel is {"device", "at", "title",
// "note"} and its data: "rows", "marks", "fits", "labels". The script gives the specification its width and
// that data.
Json chart_of(const DrawnGraph&, const std::vector<const DeviceResults*>&);

struct Scale {
  std::string title;
  bool log = false;
};

// Cells `column` by `series`, shaded by `y` and labelled.
Json heat_spec(const std::vector<std::string>& series, const std::vector<std::string>& columns,
               const std::string& x_title, const std::string& y_title, const Scale& shade, bool low_is_good);
// A point for each of `series`, with its interval from `low` to `high` and its label; a rule at `at` unless
// that is 0.
Json dot_spec(const std::vector<std::string>& series, const Scale& shown, double at = 0);
// The palette's colour of a series, as the page's style defines it.
std::string colour(std::size_t series);
// What every specification begins with.
Json spec_of(Json layers, double height);

}  // namespace clweave::charts
