// SPDX-License-Identifier: Apache-2.0
// drawn_graph: a chart as numbers and words, ready to be drawn. report/text_chart, charts/svg and charts/vega
// draw it, each for another medium; none of them knows what was measured. It stands in report/ because tables
// for a terminal, which contain charts, are made before charts/ in the data flow.
#pragma once
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/namespaces.hpp"

namespace clweave::report {

struct GraphPoint {
  std::size_t series = 0, column = 0;  // into DrawnGraph::series, ::columns
  double x = 0, y = 0;                 // y is NaN where a cell has a label but no number
  double low = 0, high = 0;            // the 95 % interval of y
  std::string label = {};              // written at the point; empty: y in the graph's unit
  std::string note = {};               // told on demand, such as the launch configuration
  bool doubtful = false;
};

// A vertical line at x.
struct GraphMark {
  double x;
  std::string text;
};

// A curve that the points are compared with: another program, a copy, a law, a roof.
struct GraphReference {
  std::string name;
  std::vector<std::pair<double, double>> points;  // by x
  std::string label = {};                         // of a roof, written at it; empty: it is not named
};

struct GraphPanel {
  std::optional<std::size_t> device = {};  // its number among the devices measured; none: of all of them
  std::string device_label = {};
  std::string at = {};       // the values that tell the panel from others: "n=1024 type=uint"
  std::string finding = {};  // one sentence: its title
  std::vector<GraphPoint> points = {};
  std::vector<GraphMark> marks = {};
  std::vector<GraphPoint> fits = {};  // fitted curves
  std::vector<GraphReference> references = {};
  std::string note = {};  // what is not drawn, and why
};

struct DrawnGraph {
  enum class Kind {
    lines,     // a curve over x for each series
    launches,  // a point for each case, numbered along x
    heat,      // a cell for each column of each series, shaded by y
    bars,      // a dot with its interval for each series, or one for each column of it
    roofline,  // points among references, both axes logarithmic
    slopes,    // a line from column to column for each series
    stack      // a bar for each series, the sum of its columns
  };
  Kind kind = Kind::lines;
  std::string name;         // "scan: size"
  std::string family = {};  // whose axes the chart names; empty: none
  std::string where = {};   // the cases it is limited to, as --where has them
  std::string series_title = {}, x_title = {}, y_title = {}, label_title = "shown",
              note_title = "launch configuration";
  std::string unit = {};  // as number_text takes it
  std::vector<std::string> series = {}, columns = {};
  std::vector<std::string> colours = {};  // of the columns; empty: the palette's
  bool log_x = false, log_y = false;
  bool x_in_bytes = false;
  bool low_is_good = false;         // y is a time, or a multiple of one
  bool intervals = true;            // low and high are known
  bool wide = false;                // takes the whole width of a page
  std::optional<double> rule = {};  // a line at this value of y: "as fast as before", "100 %"
  std::vector<GraphPanel> panels = {};

  bool is_numeric() const {  // x is a number, not a column
    return kind == Kind::lines || kind == Kind::launches || kind == Kind::roofline;
  }
};

// Maps values to 0 .. 1. A linear scale begins at 0 unless values are negative.
struct Scale {
  Scale(double least, double most, bool logarithmic);
  Scale(const std::vector<double>& values, bool logarithmic);
  double place(double value) const {
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  }
  double value(double place) const {
    return log ? low * std::pow(high / low, place) : low + place * (high - low);
  }
  double low, high;
  bool log;
};

// Returns whether a logarithmic scale suits the values: positive and far apart.
bool spans_a_decade(const std::vector<double>& values);

}  // namespace clweave::report
